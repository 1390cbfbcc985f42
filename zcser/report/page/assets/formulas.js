// The formulas of zcser.decide, over the JSON that zcser.decide.formulas writes; its docstring has them. Every sum is in the
// order that Python computes it in, so that both come to the same last digit.

const FINE = { value: 0, low: 0, high: 0 };
const ENDS = ["value", "low", "high"];

// Names come out of a result, and may be those of a prototype.
function entry(object, name) {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function mapEnds(make) {
  return Object.fromEntries(ENDS.map((end) => [end, make(end)]));
}

function isLess(left, right, ratio) {
  return left.high < right.low && right.value > left.value * ratio;
}

// Steps of one side, or the reason why one of them is not there.
function sideSteps(candidate, profile, task, packing) {
  const tasks = profile.compression === "none" ? [task] : [task, `${packing}-${profile.compression}`];
  const steps = [];
  for (const one of tasks) {
    const trusting = entry(candidate.trusting, one);
    const step = (profile.unvalidated && trusting) || entry(candidate.steps, one);
    if (!step) {
      if (trusting) return `${one} was measured unvalidated only`;
      return entry(candidate.missing, one) ?? `${one} was not measured`;
    }
    steps.push(step);
  }
  return steps;
}

function sumOf(steps) {
  return mapEnds((end) => steps.reduce((sum, step) => sum + step[end], FINE[end]));
}

function objectiveOf(steps, hopNs, limitNs) {
  if (hopNs > limitNs || steps.some((step) => (step.p99_ns ?? 0) + hopNs > limitNs)) return "missed";
  const tails = steps.map((step) => (steps.length === 1 ? step.p99_ns : step.p999_ns));
  if (tails.includes(null)) return "unknown";
  return tails.reduce((sum, tail) => sum + tail, 0) + hopNs <= limitNs ? "met" : "unknown";
}

function capacityOf(core, bytes, profile, bandwidthIn, bandwidthOut) {
  const bounds = [Infinity];
  if (bytes !== null) {
    bounds.push(bandwidthOut / bytes);
    if (profile.reads_per_write > 0) bounds.push(bandwidthIn / bytes / profile.reads_per_write);
  }
  const wire = Math.min(...bounds);
  const perSecond = (time) => (time > 0 ? 1e9 / time : Infinity) * profile.cpu_share;
  return { value: Math.min(perSecond(core.value), wire), low: Math.min(perSecond(core.high), wire), high: Math.min(perSecond(core.low), wire) };
}

function scoreOf(candidate, profile) {
  const out = (reason) => ({ codec: candidate.codec, reason });
  const writing = profile.writer_weight;
  const reading = profile.reader_weight * profile.reads_per_write;
  const written = writing > 0 ? sideSteps(candidate, profile, profile.write, "compress") : [];
  const read = reading > 0 ? sideSteps(candidate, profile, profile.read, "decompress") : [];
  for (const side of [written, read]) if (typeof side === "string") return out(`cannot be scored: ${side}`);
  const bandwidthIn = profile.bandwidth_in ?? Infinity;
  const bandwidthOut = profile.bandwidth_out ?? Infinity;
  const [outNs, inNs] = [1e9 / bandwidthOut, 1e9 / bandwidthIn];
  const perByteNs = outNs + profile.reads_per_write * inNs;
  const packed = profile.compression !== "none";
  let bytes = packed ? (entry(candidate.packed_bytes, profile.compression) ?? null) : candidate.wire_bytes;
  if (perByteNs === 0) bytes = null;
  else if (bytes === null) {
    return out(`cannot be scored: the size of its messages${packed ? ` after ${profile.compression}` : ""} was not measured`);
  }
  const wireNs = bytes === null ? 0 : bytes * perByteNs;
  const hopNs = bytes === null ? 0 : bytes * (outNs + (profile.reads_per_write > 0 ? inNs : 0));
  const [writtenNs, readNs] = [sumOf(written), sumOf(read)];
  const core = mapEnds((end) => writtenNs[end] * writing + readNs[end] * reading);
  const total = mapEnds((end) => core[end] / profile.cpu_share + wireNs);
  const steps = [...written, ...read];
  const objective = profile.p99_ns === null ? null : objectiveOf(steps, hopNs, profile.p99_ns);
  if (objective === "missed") return out("misses the p99 objective");
  const capacity = capacityOf(core, bytes, profile, bandwidthIn, bandwidthOut);
  if (profile.messages_per_s !== null && capacity.high < profile.messages_per_s) {
    return out(`carries at most ${Number(capacity.high.toPrecision(3))} messages per second`);
  }
  const unvalidated = steps.some((step) => step.flags.includes("unvalidated"));
  return { codec: candidate.codec, writer: candidate.writer, steps, bytes, core, wireNs, total, capacity, objective, unvalidated };
}

// Scores by rank, then total, then name; and the codecs that are out, with the reason.
function standingsOf(figures, payload, profile) {
  const scores = [];
  const outs = [];
  for (const candidate of payload.candidates) {
    const found = scoreOf(candidate, profile);
    (found.reason === undefined ? scores : outs).push(found);
  }
  for (const one of scores) {
    one.rank = 1 + scores.filter((other) => isLess(other.total, one.total, figures.ratio)).length;
  }
  scores.sort((a, b) => a.rank - b.rank || a.total.value - b.total.value || (a.codec < b.codec ? -1 : 1));
  const leaders = scores.filter((one) => one.rank === 1);
  const behind = scores.slice(leaders.length).reduce((least, one) => (least && least.total.value <= one.total.value ? least : one), null);
  const shown = behind && leaders.every((one) => isLess(one.total, behind.total, figures.ratio));
  return { scores, outs, leaders, next: shown ? behind : null };
}
