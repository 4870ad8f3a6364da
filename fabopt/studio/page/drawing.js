// Drawing and floor of an answer, and what is lost when something on them breaks.

import { all, at, button, drawing, make, one } from "./make.js";
import { banning, partsOf, pinning } from "./parts.js";
import { get, post } from "./server.js";

let does = {};
let now = null;
let chosen = "";
let broken = "";
let loss = null;
// in a narrow window the whole drawing could not be read
let isLarge = window.innerWidth < 768;
let text = "";
let racksOfSwitches = [];

export function setUp(acts) {
  does = acts;
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && broken) mend(); });
  one("#take-drawing").addEventListener("click", take);
}

/** Begin with another answer: what was broken of the one before is whole again. */
export function begin(answer) { now = answer; mend(); }
/** Another name of the answer that is shown. */
export function rename(answer) { now = answer; }

const named = (whole) => (whole.match(/<svg(?=[\s>])[^>]*\sxmlns=/) ? whole : whole.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"'));
function take() {
  const link = make("a", { href: URL.createObjectURL(new Blob([named(text)], { type: "image/svg+xml" })), download: `${now.facts.name || "design"}-${chosen}.svg` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Pixels of the smallest words of a drawing, and of a drawing that is made wider for them.
const LETTERS = 10;
const WIDEST = 2000;
const KINDS = ["leaf", "spine", "core", "server"];
const about = (box) => box.getAttribute("aria-label");
/** Name, product and links of a box, as its label has them. */
function read(box) {
  const [own, ...links] = about(box).split("; ");
  const words = own.slice(own.indexOf(": ") + 2);
  const end = words.lastIndexOf(", ");
  return { name: end < 0 ? words : words.slice(0, end), product: end < 0 ? "" : words.slice(end + 2), links };
}

export async function showDrawing(base) {
  const fabrics = now.facts.fabrics || [];
  if (!fabrics.includes(chosen)) [chosen] = fabrics;
  one("#take-drawing").hidden = true;
  text = await get(`${base}/drawing?fabric=${encodeURIComponent(chosen || "")}`);
  const picture = drawing(text);
  if (!picture) return [make("p", { look: "note", text: "There is no drawing." })];
  one("#take-drawing").hidden = false;
  picture.classList.add("topology");
  // so wide that its words can be read
  const letters = Math.min(...all("text", picture).map((words) => parseFloat(words.getAttribute("font-size")) || Infinity));
  if (Number.isFinite(letters)) picture.style.setProperty("--least", `${Math.min(WIDEST, Math.round(picture.viewBox.baseVal.width * LETTERS / letters))}px`);
  const detail = make("p", { look: "detail", "aria-live": "polite", text: "Choose a switch, a server or a line to break it: a click, or Tab and Enter. Escape mends." });
  const lines = all("polyline", picture).filter((line) => !(line.dataset.a === "-1" && line.dataset.b === "-1"));
  const light = (box) => {
    for (const line of lines) line.classList.toggle("lit", Boolean(box) && [line.dataset.a, line.dataset.b].includes(box.dataset.node));
    if (box) detail.textContent = about(box);
  };
  for (const line of lines) if (!line.dataset.a.startsWith("-") && !line.dataset.b.startsWith("-")) {
    line.classList.add("cable");
    line.addEventListener("click", () => lose("cable", `${line.dataset.a}-${line.dataset.b}`));
  }
  for (const box of all(".box", picture)) {
    const kind = KINDS.find((word) => box.classList.contains(word));
    box.addEventListener("pointerenter", () => light(box));
    box.addEventListener("pointerleave", () => light(null));
    box.addEventListener("focus", () => light(box));
    box.addEventListener("blur", () => light(null));
    box.setAttribute("tabindex", "0");
    if (!kind) continue;
    box.setAttribute("role", "button");
    const act = () => lose(kind, box.dataset.node);
    box.addEventListener("click", act);
    box.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } });
  }
  const place = make("div", { look: isLarge ? "scroll large" : "scroll", tabindex: "0", role: "region", "aria-label": `Drawing of ${chosen}` }, picture);
  const size = () => { larger.textContent = isLarge ? "Whole drawing" : "Larger"; place.classList.toggle("large", isLarge); };
  const larger = button("", () => { isLarge = !isLarge; size(); }, { look: "small" });
  size();
  const choice = fabrics.length > 1 ? fabrics.map((name) => button(name, () => other(name), { "aria-pressed": String(name === chosen), look: "small" })) : [];
  return [make("div", { look: "tools" }, ...choice, larger, ...feeds()), place, detail];
}

function other(name) {
  if (broken && !/^(rack|feed) /.test(broken)) mend();
  chosen = name;
  does.show("drawing", true);
  if (broken) ask();
}

const feeds = () => (now.facts.floor ? ["A", "B"].map((name) => button(`Break feed ${name}`, () => lose("feed", name), { look: "small" })) : []);

/** Break something; what is broken already is mended. */
function lose(kind, name) {
  if (broken === `${kind} ${name}`) { mend(); return; }
  broken = `${kind} ${name}`;
  ask();
}

async function ask() {
  const asked = broken;
  const [kind, name] = [asked.slice(0, asked.indexOf(" ")), asked.slice(asked.indexOf(" ") + 1)];
  one("#broken").replaceChildren(make("p", { text: `Looking what happens without this ${kind}...` }));
  try {
    const said = await post("/api/break", { answer: now.answer, fabric: chosen || null, kind, name });
    if (broken !== asked) return;
    loss = { ...said, kind, name };
    mark();
    one("#broken").replaceChildren(...panel());
    if (KINDS.includes(kind)) ofPart(asked);
  } catch (error) { if (broken === asked) one("#broken").replaceChildren(make("p", { text: error.message }), button("Mend", mend, { look: "small" })); }
}

const box = (node) => all("#drawing .box").find((one_) => one_.dataset.node === node);
const MEANS = { down: () => "broken", cut: () => "cut off", degraded: (fabrics) => fabrics.filter((row) => Number.isFinite(row.left_gbps_per_gpu) && row.degraded).map((row) => `${Number(row.left_gbps_per_gpu.toFixed(1))} of ${Number(row.of_gbps_per_gpu.toFixed(1))} Gb/s a GPU left`)[0] || "degraded" };

/** What is told of what broke, what the marks mean, and what else can be done. */
function panel() {
  const { kind, name } = loss;
  const found = new Set([...Object.values(loss.marks || {}), ...Object.values(loss.racks || {})]);
  if (kind === "cable") found.add("down");
  const acts = [button("Mend", mend, { look: "small" })];
  const own = KINDS.includes(kind) && box(name);
  if (own) {
    const mine = read(own).name;
    const near = all("#drawing .box").filter((one_) => read(one_).links.some((link) => link.endsWith(` to ${mine}`)));
    if (near.length) acts.push(make("select", { "aria-label": "Break one of its cables instead", look: "small", onchange: (event) => lose("cable", `${name}-${event.target.value}`) },
      make("option", { value: "", text: "One of its cables..." }), ...near.map((one_) => make("option", { value: one_.dataset.node, text: `to ${read(one_).name}` }))));
  }
  if (kind === "rack") acts.push(...rackActs(name));
  const legend = Object.keys(MEANS).filter((mark_) => found.has(mark_)).map((mark_) => make("li", {}, make("span", { look: `swatch ${mark_}` }), MEANS[mark_](Object.values(loss.fabrics || {}))));
  return [make("p", { text: loss.words[0].toUpperCase() + loss.words.slice(1) }), make("ul", { look: "legend" }, ...legend), make("div", { look: "tools" }, ...acts)];
}

/** Pin and ban the product of a switch in the drawing. */
async function ofPart(asked) {
  const { kind, name } = loss;
  const { product } = read(box(name));
  const part = (await partsOf(now.answer)).find((one_) => one_.kind === "switches" && one_.bought && product && one_.words.endsWith(product));
  if (broken === asked && part) one("#broken .tools").append(banning(part), ...pinning(part, kind, chosen));
}

function rackActs(name) {
  const floor = at(does.values(), "site.floor");
  if (!floor) return [];
  const toggle = (list) => (list.includes(name) ? list.filter((id) => id !== name) : [...list, name]);
  const kept = Array.isArray(floor.reserved) ? floor.reserved : [];
  const switches = Array.isArray(floor.network_racks) ? floor.network_racks : racksOfSwitches;
  return [button(kept.includes(name) ? "Use this rack" : "Keep this rack free", () => does.edit([["site.floor.reserved", toggle(kept).length ? toggle(kept) : null]]), { look: "small" }),
    button(switches.includes(name) ? "No switches here" : "Switches here too", () => does.edit([["site.floor.network_racks", toggle(switches).length ? toggle(switches) : null]]), { look: "small" })];
}

const MARKS = ["down", "cut", "degraded"];
/** Mark what is lost on drawing and floor, whichever is there. */
export function mark() {
  for (const part of all("#drawing .box, #floor [data-rack], #drawing polyline")) part.classList.remove(...MARKS);
  if (!loss) return;
  const { kind, name, marks = {}, racks = {} } = loss;
  for (const part of all("#drawing .box")) if (marks[part.dataset.node]) part.classList.add(marks[part.dataset.node]);
  for (const part of all("#floor [data-rack]")) if (racks[part.dataset.rack]) part.classList.add(racks[part.dataset.rack]);
  const ends = kind === "cable" ? name.split("-").sort().join("-") : "";
  for (const line of all("#drawing polyline")) {
    const pair = [line.dataset.a, line.dataset.b];
    if (pair.some((node) => marks[node] === "down") || pair.sort().join("-") === ends) line.classList.add("down");
  }
}

export function mend() {
  broken = "";
  loss = null;
  mark();
  one("#broken").replaceChildren();
}

export async function showFloor(base) {
  const said = await get(`${base}/floor`);
  racksOfSwitches = said.rows.flatMap(([, cells]) => cells.filter((cell) => /network|mixed/.test(cell.use)).map((cell) => cell.id));
  const words = make("p", { look: "detail", "aria-live": "polite", text: "Point at a rack for what stands there; choose it to break it, to keep it free, or to put switches there." });
  const tell = (cell) => () => { words.textContent = cell.words; };
  const row = ([name, cells]) => make("div", {}, make("span", { text: name.slice(name.lastIndexOf("-") + 1) }), ...cells.map((cell) => make("button", {
    type: "button", look: `rack ${cell.use}`, "data-rack": cell.id, "aria-label": cell.words, title: cell.words, text: cell.exits, onclick: () => lose("rack", cell.id), onfocus: tell(cell), onpointerenter: tell(cell) })));
  const hallOf = ([name]) => name.slice(0, Math.max(0, name.lastIndexOf("-")));
  const halls = [...new Set(said.rows.map(hallOf))].map((hall) => make("div", { look: "map", role: "group", "aria-label": hall ? `Floor plan of hall ${hall}` : "Floor plan" },
    ...(hall ? [make("strong", { text: `Hall ${hall}` })] : []), ...said.rows.filter((one) => hallOf(one) === hall).map(row)));
  const map = make("div", { look: "halls" }, ...halls);
  const marks = all("button", map);
  const wide = said.rows[0] ? said.rows[0][1].length : 1;
  marks.forEach((mark_, index) => {
    mark_.tabIndex = index ? -1 : 0;
    mark_.addEventListener("keydown", (event) => {
      const next = marks[index + ({ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -wide, ArrowDown: wide }[event.key] || 0)];
      if (next && next !== mark_) { event.preventDefault(); mark_.tabIndex = -1; next.tabIndex = 0; next.focus(); }
    });
  });
  return [...said.lines.map((line) => make("p", { text: line })), make("ul", { look: "legend" }, ...said.uses.map(([use, number]) => make("li", {}, make("span", { look: `swatch rack ${use}` }), `${use}: ${number}`))),
    make("div", { look: "tools" }, ...feeds()), make("div", { look: "scroll", tabindex: "0", role: "region", "aria-label": "Floor plan" }, map),
    ...(said.routes.length ? [make("ol", { look: "routes", "aria-label": "Routes between halls" }, ...said.routes.map((text) => make("li", { text })))] : []), words];
}
