// The calculator: a profile's weights as sliders, and the ranking and the sentence that follow from them.

const NAMES = ["writer_weight", "reader_weight", "reads_per_write", "cpu_share", "bandwidth_out", "bandwidth_in", "p99_ns", "messages_per_s"];

const TEXTS = {
  writer_weight: numberText,
  reader_weight: numberText,
  reads_per_write: numberText,
  cpu_share: (cores) => `${numberText(cores)} ${cores === 1 ? "core" : "cores"}`,
  bandwidth_out: (bytes) => (bytes === null ? "not counted" : speedText(bytes)),
  bandwidth_in: (bytes) => (bytes === null ? "not counted" : speedText(bytes)),
  p99_ns: (ns) => (ns === null ? "none" : timeText(ns)),
  messages_per_s: (count) => (count === null ? "not asked" : `${numberText(count)} per s`),
};

// How many times the lowest total a bar may be long.
const LONGEST_BAR = 8;

const WRITING = /^(encode|convert|dump)/;
const NO_TASK = /^(guard|compress-|decompress-)/;

function taskText(task) {
  if (!/^(\d+%?|all)$/.test(task)) return task;
  return task === "all" ? "all fields" : task.endsWith("%") ? `${task} of the fields` : `${task} field${task === "1" ? "" : "s"}`;
}

// A slider's place as a value: equal steps of the logarithm, to two digits; its end, or its start, may be "none" or 0.
function valueAt(slider) {
  const { low, high, none, zero } = slider.dataset;
  const place = Number(slider.value);
  if (none !== undefined && place === Number(slider.max)) return null;
  if (zero !== undefined && place === 0) return 0;
  const steps = Number(slider.max) - (none === undefined ? 0 : 1);
  return Number((Number(low) * (Number(high) / Number(low)) ** (place / steps)).toPrecision(2));
}

function placeOf(slider, value) {
  const { low, high, none, zero } = slider.dataset;
  if (value === null) return Number(slider.max);
  if (zero !== undefined && value <= 0) return 0;
  const steps = Number(slider.max) - (none === undefined ? 0 : 1);
  const place = Math.round((steps * Math.log(value / Number(low))) / Math.log(Number(high) / Number(low)));
  return Math.min(Math.max(place, zero === undefined ? 0 : 1), steps);
}

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function scoreRow(score, tied, longest) {
  const row = element("tr", null, { "data-codec": score.codec });
  row.append(element("td", tied ? `${score.rank} tie` : `${score.rank}`));
  const name = element("th", null, { scope: "row" });
  name.append(element("bdi", nameOf(score)));
  row.append(name);
  const total = element("td", timeText(score.total.value));
  total.append(element("small", rangeText(score.total.low, score.total.high, timeText)));
  if (score.rank === 1) total.className = tied ? "t" : "b";
  row.append(total);
  // A bar that is cut says so.
  const bar = element("td", score.total.value > longest ? "»" : null, { class: "left" });
  const meter = element("progress", null, { max: longest, value: score.total.value, "aria-hidden": "true" });
  bar.prepend(meter);
  row.append(bar);
  row.append(element("td", timeText(score.core.value)));
  row.append(element("td", score.bytes === null ? "-" : timeText(score.wireNs)));
  row.append(element("td", score.bytes === null ? "-" : bytesText(score.bytes)));
  row.append(element("td", numberText(score.capacity.value)));
  const words = [...new Set(score.steps.flatMap((step) => step.flags))];
  if (score.objective) words.unshift(`p99 ${score.objective}`);
  row.append(element("td", words.join(", "), { class: "left" }));
  return row;
}

function startCalculator(form, choices, start) {
  const part = (name) => form.querySelector(`[data-part="${name}"]`);
  const field = (name) => form.elements.namedItem(name);
  let profile;
  let timer;

  const choice = () => choices[Number(field("choice")?.value ?? 0)];

  function fillTasks() {
    const { payload } = choice();
    for (const side of ["write", "read"]) {
      const select = field(side);
      const wanted = profile[side];
      const fitting = payload.tasks.filter((task) => WRITING.test(task) === (side === "write") && !NO_TASK.test(task));
      const tasks = fitting.includes(wanted) ? fitting : [...fitting, wanted];
      select.replaceChildren(...tasks.map((task) => element("option", taskText(task), { value: task })));
      select.value = wanted;
    }
  }

  function showValue(name) {
    const text = TEXTS[name](profile[name]);
    field(name).setAttribute("aria-valuetext", text);
    part(`${name}-text`).textContent = text;
  }

  function setProfile(wanted) {
    profile = { ...wanted };
    part("doc").textContent = profile.doc;
    for (const one of NAMES) {
      field(one).value = placeOf(field(one), profile[one]);
      showValue(one);
    }
    field("compression").value = profile.compression;
    field("unvalidated").checked = profile.unvalidated;
    fillTasks();
  }

  function update() {
    const { figures, payload, label, name } = choice();
    const standings = standingsOf(figures, payload, profile);
    const totals = standings.scores.map((one) => one.total.value);
    const longest = Math.min(Math.max(...totals, 1e-9), LONGEST_BAR * Math.max(Math.min(...totals), 1e-9));
    const count = (rank) => standings.scores.filter((one) => one.rank === rank).length;
    part("rows").replaceChildren(...standings.scores.map((one) => scoreRow(one, count(one.rank) > 1, longest)));
    part("outs").replaceChildren(...standings.outs.map((one) => element("li", `${one.codec} ${one.reason}`)));
    part("outs-label").hidden = standings.outs.length === 0;
    const instead = entry(payload.stand_ins, profile.read);
    const fields = payload.named_fields === 1 ? "one field" : `${payload.named_fields} fields`;
    part("note").textContent = instead ? `read-${profile.read} was not measured: ${instead} of ${fields} stands for it.` : "";
    const text = sentenceOf(standings, label, profile);
    part("sentence").textContent = text;
    part("command").textContent = commandOf(name, profile, figures.profiles);
    // Spoken once the sliders rest.
    clearTimeout(timer);
    timer = setTimeout(() => { part("spoken").textContent = text; }, 600);
    return standings;
  }

  form.addEventListener("input", (event) => {
    const { name } = event.target;
    if (name === "choice") fillTasks();
    else if (name === "profile") setProfile(choice().figures.profiles[event.target.value]);
    else if (NAMES.includes(name)) {
      profile[name] = valueAt(event.target);
      showValue(name);
    } else if (name === "unvalidated") profile.unvalidated = event.target.checked;
    else profile[name] = event.target.value;
    update();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  setProfile(start);
  update();
}

// The command that comes to the same.
function commandOf(payloadName, profile, known) {
  const quoted = (text) => (/^[\w.,:%\/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const base = Object.hasOwn(known, profile.name) ? known[profile.name] : known.custom;
  const written = (value) => (value === null ? "none" : value === true ? "yes" : value === false ? "no" : String(value));
  const changed = Object.keys(base).filter((one) => !["name", "doc"].includes(one) && base[one] !== profile[one]);
  const sets = changed.map((one) => ` --set ${one}=${one.startsWith("bandwidth") && profile[one] === null ? "inf" : written(profile[one])}`);
  return `zcser decide RESULT.json --profile ${base.name} --payload ${quoted(payloadName)}${sets.join("")}`;
}

// Puts steps and reasons back to where their numbers stand.
function unpack({ payloads, keys, steps, reasons }) {
  const known = steps.map((values) => Object.fromEntries(keys.map((key, place) => [key, values[place]])));
  for (const { candidates } of Object.values(payloads)) {
    for (const one of candidates) {
      for (const [kind, table] of [["steps", known], ["trusting", known], ["missing", reasons]]) {
        for (const task of Object.keys(one[kind])) one[kind][task] = table[one[kind][task]];
      }
    }
  }
}

function choicesOf(runs) {
  return runs.flatMap(({ label, figures }) =>
    Object.entries(figures.payloads).map(([name, payload]) => ({ label: label === "" ? name : `${name} (${label})`, name, figures, payload })),
  );
}

for (const form of document.querySelectorAll("form.calculator")) {
  const data = JSON.parse(document.getElementById("figures").textContent);
  data.runs.forEach(({ figures }) => unpack(figures));
  const choices = choicesOf(data.runs);
  const select = form.elements.namedItem("choice");
  choices.forEach(({ label }, number) => select.append(element("option", label, { value: number })));
  if (choices.length) startCalculator(form, choices, data.profile);
}
