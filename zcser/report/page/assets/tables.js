// Sorting and filters. Without scripts every table and picture is there, in the report's own order.

const collator = new Intl.Collator("en", { numeric: true });

// A row's key in a column: its number, or the row's name; null sorts last in both directions.
function keyOf(row, column) {
  const cell = row.cells[column];
  if (column === 0) return cell.textContent;
  return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
}

function compareKeys(left, right, sign) {
  if (left === null || right === null) return (left === null) - (right === null);
  return sign * (typeof left === "string" ? collator.compare(left, right) : left - right);
}

function sortBy(table, column, heading) {
  const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [keyOf(row, column), row]);
  rows.sort((left, right) => compareKeys(left[0], right[0], sign));
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  body.append(...rows.map(([, row]) => row));
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, column, heading));
    heading.append(button);
  });
}

// What is chosen of one kind of box, as a set; and "7 of 12" for the summary above the boxes.
function chosen(tools, kind) {
  const boxes = [...tools.querySelectorAll(`input[data-kind="${kind}"]`)];
  const on = boxes.filter((box) => box.checked);
  const count = tools.querySelector(`[data-count="${kind}"]`);
  if (count) count.textContent = on.length === boxes.length ? "all" : `${on.length} of ${boxes.length}`;
  return new Set(on.map((box) => box.value));
}

// Rows of a picture close up where one of them is hidden.
function closeUp(picture) {
  let gone = 0;
  for (const row of picture.querySelectorAll("g[data-row]")) {
    row.setAttribute("transform", `translate(0 ${-gone})`);
    if (row.classList.contains("off")) gone += Number(row.dataset.row);
  }
}

function applyFilters(tools) {
  const payload = tools.querySelector("select[data-kind=payload]");
  const codecs = chosen(tools, "codec");
  const columns = chosen(tools, "column");
  const known = new Set([...tools.querySelectorAll('input[data-kind="codec"]')].map((box) => box.value));
  // All but the calculator's, whose ranking is of every codec; rows of another kind, such as floors, are none of these.
  for (const item of document.querySelectorAll("main [data-codec]:not(.calculator *)")) {
    const codec = item.dataset.codec;
    item.classList.toggle("off", known.has(codec) && !codecs.has(codec));
  }
  document.querySelectorAll("svg").forEach(closeUp);
  for (const section of document.querySelectorAll("section.payload")) {
    section.classList.toggle("off", Boolean(payload?.value) && section.dataset.payload !== payload.value);
    for (const table of section.querySelectorAll("table.sortable")) {
      const off = [...table.tHead.rows[0].cells].map((cell, column) => column > 0 && !columns.has(cell.dataset.o));
      for (const row of table.rows) off.forEach((hidden, column) => row.cells[column].classList.toggle("off", hidden));
    }
  }
}

function startTools(tools) {
  tools.hidden = false;
  tools.addEventListener("change", () => applyFilters(tools));
  for (const button of tools.querySelectorAll("button[data-set]")) {
    button.addEventListener("click", () => {
      for (const box of button.closest("fieldset").querySelectorAll("input")) box.checked = button.dataset.set === "all";
      applyFilters(tools);
    });
  }
  // Escape closes an open list of boxes and goes back to what opened it.
  tools.addEventListener("keydown", (event) => {
    const open = event.target.closest("details[open]");
    if (event.key === "Escape" && open) {
      open.open = false;
      open.querySelector("summary").focus();
    }
  });
  document.addEventListener("click", (event) => {
    for (const open of tools.querySelectorAll("details[open]")) if (!open.contains(event.target)) open.open = false;
  });
}

// A place that need not scroll is no stop for the keyboard. Told near the view alone: to ask of all would lay out the whole page.
const near = new IntersectionObserver(
  (entries) => entries.forEach(({ target }) => { target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1; }),
  { rootMargin: "100%" },
);

document.querySelectorAll(".scroll").forEach((place) => near.observe(place));
document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll(".tools").forEach(startTools);
