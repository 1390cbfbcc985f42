// Figures as text, by the rules of zcser.core.units: three digits, the unit beside each.

// As Python writes a number of so many digits that has no room for them all: "3e+09".
function exponent(value, count) {
  const [head, power] = value.toExponential(count - 1).split("e+");
  return `${head.includes(".") ? head.replace(/\.?0+$/, "") : head}e+${power.padStart(2, "0")}`;
}

function digits(value) {
  const size = Math.abs(value);
  if (size >= 9999.5) return exponent(value, 3);
  if (size >= 99.95) return value.toFixed(0);
  return value.toFixed(size >= 9.995 ? 1 : 2);
}

function scaled(value, units) {
  const [scale, unit] = units.findLast(([least]) => Math.abs(value) >= 0.9995 * least) ?? units[0];
  return `${digits(value / scale)} ${unit}`;
}

const TIMES = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
const SIZES = [[1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]];

const timeText = (ns) => scaled(ns, TIMES);
const bytesText = (count) => (Math.abs(count) < 9999.5 ? `${grouped(count)} B` : scaled(count, SIZES));
const speedText = (bytes) => `${scaled(bytes, [[1, "B"], ...SIZES])}/s`;
const grouped = (value) => value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");

function numberText(value) {
  if (!Number.isFinite(value)) return "unbounded";
  if (Math.abs(value) >= 9999.5) return value < 1e9 ? grouped(value) : exponent(value, 2);
  return Number.isInteger(value) ? grouped(value) : digits(value);
}

function rangeText(low, high, text) {
  const [from, to] = [text(low), text(high)];
  const unit = to.slice(to.lastIndexOf(" "));
  return `${from.endsWith(unit) && unit.startsWith(" ") ? from.slice(0, -unit.length) : from} to ${to}`;
}

function ratioText(ratio) {
  if (ratio >= 9999.5) return ">9999x";
  if (ratio >= 9.95) return `${ratio.toFixed(0)}x`;
  return ratio >= 1.095 ? `${ratio.toFixed(1)}x` : `${ratio.toFixed(2)}x`;
}

function listText(names, most = 3) {
  const shown = names.length > most ? [...names.slice(0, most), `${names.length - most} more`] : names;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}` : shown.join("");
}
