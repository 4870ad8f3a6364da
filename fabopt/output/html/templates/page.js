"use strict";
// Everything here adds to a page that can be read without it. Text goes in as text, never as markup.

const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

function element(name, text, look) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (look) made.className = look;
  return made;
}

// -- tables that can be sorted ---------------------------------------------------------------------------------------

function compare(one, other) {
  const numbers = [one, other].map(Number);
  if (one !== "" && other !== "" && numbers.every(Number.isFinite)) return numbers[0] - numbers[1];
  return one.localeCompare(other, "en", { numeric: true });
}

function sortBy(table, column) {
  const heads = all("thead th", table);
  const down = heads[column].getAttribute("aria-sort") === "ascending";
  heads.forEach((head, index) => head.setAttribute("aria-sort", index !== column ? "none" : down ? "descending" : "ascending"));
  const body = table.tBodies[0];
  const rows = Array.from(body.rows).map((row, index) => [row.cells[column].dataset.order, index, row]);
  rows.sort((one, other) => (down ? -1 : 1) * compare(one[0], other[0]) || one[1] - other[1]);
  body.append(...rows.map((row) => row[2]));
}

for (const table of all(".sortable")) {
  all("thead th button", table).forEach((button, column) => button.addEventListener("click", () => sortBy(table, column)));
}

// -- search in the bill ----------------------------------------------------------------------------------------------

const search = document.getElementById("bill-search");
if (search) {
  const rows = all("#bill-table tbody tr");
  const count = document.getElementById("bill-count");
  const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", trailingZeroDisplay: "stripIfInteger" });
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let cents = 0;
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (row.hidden) continue;
      shown += 1;
      cents += Math.round(Number(row.dataset.usd) * 100);
    }
    const lines = rows.length === 1 ? "line" : "lines";
    const number = shown === rows.length ? `${shown} ${lines}` : `${shown} of ${rows.length} ${lines}`;
    count.textContent = `${number}, ${dollars.format(cents / 100)}`;
  });
}

// -- parts that scroll ------------------------------------------------------------------------------------------------

// Only what does scroll needs to be reached with the Tab key.
const reach = () => {
  for (const part of all(".scroll[role='region']")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
};
window.addEventListener("resize", reach);
for (const one of all("details")) one.addEventListener("toggle", reach);
reach();

// -- topology: what a box is joined to -------------------------------------------------------------------------------

for (const figure of all("figure.network")) {
  const detail = figure.querySelector(".detail");
  const before = detail.textContent;
  const lines = all("polyline", figure);
  const light = (box) => {
    detail.textContent = box ? box.getAttribute("aria-label") : before;
    const node = box && box.dataset.node;
    for (const line of lines) line.classList.toggle("lit", Boolean(box) && (line.dataset.a === node || line.dataset.b === node));
  };
  for (const box of all(".box", figure)) {
    box.addEventListener("pointerenter", () => light(box));
    box.addEventListener("focus", () => light(box));
    box.addEventListener("pointerleave", () => light(null));
    box.addEventListener("blur", () => light(null));
  }
}

// -- floor: a rack on demand -----------------------------------------------------------------------------------------

const rackData = document.getElementById("rack-data");
if (rackData) {
  const UNIT_PX = 13;
  const data = JSON.parse(rackData.textContent);
  const buttons = all(".map button");
  const table = document.getElementById("rack");

  const units = (low, high) => (low === high ? `U${low}` : `U${low}-${high}`);
  const addRow = (low, high, look, texts) => {
    const row = table.tBodies[0].insertRow();
    row.style.height = `${(high - low + 1) * UNIT_PX}px`;
    const head = element("th", units(low, high), look);
    head.scope = "row";
    row.append(head, ...texts.map((text, index) => element("td", text, index === 2 ? `${look} number` : look)));
    texts.forEach((text, index) => (row.cells[index + 1].title = text));
  };
  const draw = (devices) => {
    table.tBodies[0].replaceChildren();
    let above = data.units;
    for (const [unit, height, device, kind, fault] of devices) {
      const [role, product, watts, later] = data.kinds[kind];
      if (unit + height <= above) addRow(unit + height, above, "free", ["free", "", ""]);
      const shown = [later ? `${device} (${later})` : device, fault].filter(Boolean).join(": ");
      const look = [role, later && "later", fault && "faulty"].filter(Boolean).join(" ");
      addRow(unit, unit + height - 1, look, [shown, product, watts]);
      above = unit - 1;
    }
    if (above >= 1) addRow(1, above, "free", ["free", "", ""]);
  };
  const choose = (button) => {
    for (const one of buttons) {
      one.tabIndex = one === button ? 0 : -1;
      one.setAttribute("aria-pressed", String(one === button));
    }
    const [words, devices] = data.racks[button.dataset.rack] || [button.getAttribute("aria-label").replace(/^.*: /, ""), []];
    document.getElementById("rack-name").textContent = `Rack ${button.dataset.rack}`;
    const later = devices.some((device) => data.kinds[device[3]][3]) ? "; dashed: of the later stage in brackets" : "";
    document.getElementById("rack-words").textContent = words + later;
    table.hidden = devices.length === 0;
    draw(devices);
  };
  const grid = all(".map tbody tr").map((row) => all("button", row));
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  grid.forEach((row, y) => row.forEach((button, x) => {
    button.addEventListener("click", () => choose(button));
    button.addEventListener("keydown", (event) => {
      const step = steps[event.key];
      const next = step && grid[y + step[0]] && grid[y + step[0]][x + step[1]];
      if (!step) return;
      event.preventDefault();
      if (next) { choose(next); next.focus(); }
    });
  }));
  choose(buttons.find((button) => button.tabIndex === 0) || buttons[0]);
}

// -- charts: what a mark says ----------------------------------------------------------------------------------------

const tip = element("div", "", "tip");
tip.hidden = true;
document.body.append(tip);
// The Tab key reaches the first mark of a chart, arrow keys the others.
const tell = (mark, x, y) => {
  tip.textContent = mark.getAttribute("aria-label");
  tip.hidden = false;
  tip.style.left = `${Math.max(8, Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(8, y - tip.offsetHeight - 10)}px`;
};
let reached = null;
const point = () => {
  const place = reached.getBoundingClientRect();
  tell(reached, place.left + place.width / 2, place.top);
};
const untell = () => { tip.hidden = true; reached = null; };
window.addEventListener("scroll", () => { if (reached) point(); }, { passive: true, capture: true });
for (const chart of all(".chart svg, .stack svg")) {
  const marks = all("[role='graphics-symbol'][aria-label]:not(g), rect[role='img']", chart);
  marks.forEach((mark, index) => {
    mark.querySelector("title")?.remove();
    mark.tabIndex = index === 0 ? 0 : -1;
    mark.addEventListener("pointermove", (event) => tell(mark, event.clientX, event.clientY));
    mark.addEventListener("pointerleave", untell);
    mark.addEventListener("focus", () => { reached = mark; point(); });
    mark.addEventListener("blur", untell);
    mark.addEventListener("keydown", (event) => {
      if (event.key === "Escape") untell();
      const next = { ArrowLeft: index - 1, ArrowUp: index - 1, ArrowRight: index + 1, ArrowDown: index + 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      if (!marks[next]) return;
      mark.tabIndex = -1;
      marks[next].tabIndex = 0;
      marks[next].focus();
    });
  });
}

// -- printing: what is folded is unfolded ----------------------------------------------------------------------------

let folded = [];
window.addEventListener("beforeprint", () => {
  folded = all("details:not([open]):not(.whole)");
  for (const one of folded) one.open = true;
});
window.addEventListener("afterprint", () => {
  for (const one of folded) one.open = false;
});
