// The sentence of zcser.decide.verdict, word for word.

const nameOf = (score) => (score.writer === null ? score.codec : `${score.codec}, written by ${score.writer}`);

// A time in the wire's half or more of a total is said to be the wire's.
function costOf(score) {
  const share = score.total.value > 0 ? score.wireNs / score.total.value : 0;
  const wire = share >= 0.5 ? `, ${(100 * share).toFixed(0)}% of it wire` : "";
  return `${timeText(score.total.value)} per message${wire}`;
}

function aheadOf({ leaders, next }) {
  if (!next) return "";
  const slowest = Math.max(...leaders.map((one) => one.total.value));
  return `, ${ratioText(slowest > 0 ? next.total.value / slowest : Infinity)} ahead of ${nameOf(next)}`;
}

function trustOf(leaders) {
  const trusting = leaders.filter((one) => one.unvalidated).map((one) => one.codec);
  if (trusting.length === 0) return "";
  return leaders.length === 1 ? "; unvalidated" : `; unvalidated: ${listText(trusting)}`;
}

function objectiveText(leaders, limitNs) {
  if (limitNs === null) return "";
  const unknown = leaders.filter((one) => one.objective !== "met").map((one) => one.codec);
  const within = `the objective of ${timeText(limitNs)} at p99`;
  if (unknown.length === 0) return `; ${within} is met without queueing`;
  const who = leaders.length === 1 ? "" : ` for ${listText(unknown)}`;
  return `; whether ${within} is met cannot be told${who}: its samples are too few or too near`;
}

function hedgeOf({ leaders, next, scores }) {
  const shown = next ? [...leaders, next] : leaders;
  const lone = scores.length > 1 && shown.some((one) => one.steps.some((step) => step.processes < 2));
  return lone ? " (only indicative: some of these figures come from a single process)" : "";
}

function sentenceOf(standings, payload, profile) {
  const { leaders, scores, outs } = standings;
  const where = `${payload}, ${profile.name}`;
  if (leaders.length === 0) return `${where}: no codec can be scored${outs.length ? "; the reasons are below" : ""}.`;
  const names = listText(leaders.map(nameOf));
  let text;
  if (scores.length === 1) text = `${names} alone can be scored (${costOf(leaders[0])}), so there is nothing to compare`;
  else if (leaders.length === 1) text = `${names} is cheapest (${costOf(leaders[0])})${aheadOf(standings)}`;
  else text = `${names} tie as cheapest${aheadOf(standings)}`;
  return `${where}: ${text}${trustOf(leaders)}${objectiveText(leaders, profile.p99_ns)}${hedgeOf(standings)}.`;
}
