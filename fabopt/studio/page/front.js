// The front as a control: cost against a metric; a point becomes the design, with Shift it is compared.

import { all, button, dollars, draw, make, one, rove, short, table } from "./make.js";
import { desk, post } from "./server.js";
import { symbol } from "./answer.js";

const METRICS = [["gbps_per_gpu", "bandwidth of a GPU"], ["bisection", "bisection bandwidth"], ["power_w", "power"], ["tco_usd", "cost over the years"], ["servers", "servers"]];
// Circle, square, triangle, diamond, cross, triangle down.
const SHAPES = ["M-6,0a6,6 0 1,0 12,0a6,6 0 1,0 -12,0", "M-5.5,-5.5h11v11h-11z", "M0,-7L6.5,5.5H-6.5z", "M0,-7.5L7,0L0,7.5L-7,0z", "M-2.5,-7h5v4.5h4.5v5h-4.5v4.5h-5v-4.5h-4.5v-5h4.5z", "M0,7L6.5,-5.5H-6.5z"];
const HEIGHT = 320;
// Pixels around a mark that take a click.
const REACH = 24;
const EDGE = { left: 56, right: 18, top: 16, bottom: 46 };

let does = {};
let points = [];
let axes = null;
let running = null;
let asked = "";
let taken = false;
let known = "";
let wishes = [];

export function setUp(acts) {
  does = acts;
  one("#metric").append(...METRICS.map(([value, text]) => make("option", { value, text })));
  one("#front-go").addEventListener("click", () => go("/api/front", { metric: one("#metric").value }));
  one("#sweep-key").addEventListener("change", offer);
  one("#sweep-values").addEventListener("input", () => { one("#sweep-values").dataset.own = "yes"; });
  one("#sweep-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const key = one("#sweep-key").value;
    const values = one("#sweep-values").value.split(",").map((word) => word.trim()).filter(Boolean).map((word) => (Number.isFinite(Number(word)) ? Number(word) : word));
    go("/api/sweep", { over: key === "limits.budget_usd" ? "budget" : key, values });
  });
  one("#front-stop").addEventListener("click", () => post("/api/front/stop", { desk }).catch((error) => say(error.message)));
}

const say = (words) => { one("#front-status").textContent = words; };

/** Offer keys to sweep over, those that can be slid, and values of the chosen one. */
export function offers(found) {
  const keys = found.map((wish) => wish.key).join();
  wishes = found;
  if (known === keys) { if (!one("#sweep-values").dataset.own) offer(); return; }
  known = keys;
  one("#sweep-key").replaceChildren(...found.map((wish) => make("option", { value: wish.key, text: wish.words.toLowerCase().replace("gpus", "GPUs") })));
  offer();
}
function offer() {
  const wish = wishes.find((one_) => one_.key === one("#sweep-key").value);
  if (!wish) return;
  one("#sweep-values").dataset.own = "";
  const every = Math.ceil(wish.values.length / 7);
  one("#sweep-values").value = [...new Set(wish.values.filter((_, index) => index % every === 0))].join(", ");
}

async function go(path, facts) {
  points = [];
  axes = null;
  running = null;
  asked = does.text();
  taken = false;
  chart();
  one("#front-stop").hidden = false;
  say("Looking for the points...");
  try { running = (await post(path, { desk, text: asked, path: does.path(), prices: does.prices(), ...facts })).run; } catch (error) { ended({ words: error.message }); }
}

export const ready = (is) => { one("#front-go").disabled = one("#sweep-go").disabled = !is; };
// What comes before the run has its number is of it, or of none that is older.
const isOld = (said) => running !== null && said.run < running;
/** Axes with words for keys that are swept over. */
const named = (found) => Object.fromEntries(Object.entries(found).map(([side, axis]) => [side, { ...axis, words: wishes.find((wish) => wish.key === axis.words)?.words || axis.words }]));
/** A point: the same one may be told again, to a page that listens again. */
export function came(said) {
  if (isOld(said)) return;
  axes = named(said.axes);
  points[said.number - 1] = said.point;
  say(`${points.length} so far`);
  chart();
}
export function whole(said) { if (!isOld(said)) { axes = named(said.axes); points = said.points; chart(); } }
export function doing(said) { if (!isOld(said) && points.length === 0) say(said.doing); }
export function ended(said) {
  if (isOld(said)) return;
  one("#front-stop").hidden = true;
  const words = said.words || (said.faults || []).map((fault) => fault.words || fault.line).join("; ");
  const result = said.result || {};
  say(words || [`${points.length} ${points.length === 1 ? "point" : "points"}${result.complete === false ? ", stopped: draw again to go on" : ""}`, ...(result.notes || [])].join(". "));
}

function ticks(low, high) {
  const span = high - low || Math.abs(high) || 1;
  const step = 10 ** Math.floor(Math.log10(span / 3));
  const nice = [1, 2, 5, 10].map((by) => by * step).find((one_) => span / one_ <= 5) || span;
  const found = [];
  for (let value = Math.ceil(low / nice) * nice; value <= high + nice / 1e6; value += nice) found.push(value);
  return found;
}

export function chart() {
  const place = one("#chart");
  const shown = points.filter((point) => point && Number.isFinite(point.x) && Number.isFinite(point.y));
  if (!shown.length) { place.replaceChildren(); return; }
  const WIDTH = Math.max(300, Math.min(900, place.clientWidth || 360));
  const budget = does.budget();
  // money along the bottom, so that the budget is an upright line
  const across = axes.y.key === "capex_usd" && axes.x.key !== "capex_usd";
  const [X, Y] = across ? ["y", "x"] : ["x", "y"];
  const range = (values) => { const low = Math.min(...values); const high = Math.max(...values); const more = (high - low || Math.abs(high) || 1) * 0.08; return [low - more, high + more]; };
  // a budget far from all points is named at the edge, so that they keep their room
  const [low, high] = range(shown.map((point) => point[X]));
  const isNear = axes[X].key === "capex_usd" && budget && budget > low - (high - low) && budget < high + (high - low);
  const [x0, x1] = isNear ? range([...shown.map((point) => point[X]), budget]) : [low, high];
  const [y0, y1] = range(shown.map((point) => point[Y]));
  const px = (value) => EDGE.left + (WIDTH - EDGE.left - EDGE.right) * (value - x0) / (x1 - x0);
  const py = (value) => HEIGHT - EDGE.bottom - (HEIGHT - EDGE.top - EDGE.bottom) * (value - y0) / (y1 - y0);
  const kinds = [...new Set(shown.map((point) => [point.family, point.protocol].filter(Boolean).join(", ")))];
  const money = (key, value) => (String(key).endsWith("_usd") ? `$${short(value)}` : short(value));
  const detail = make("p", { look: "detail", "aria-live": "polite" });
  const marks = shown.map((point) => {
    const kind = kinds.indexOf([point.family, point.protocol].filter(Boolean).join(", ")) % SHAPES.length;
    const words = [point.label, point.summary, point.capex_usd && dollars(point.capex_usd)].filter((one_) => typeof one_ === "string" && one_).join("; ");
    const mark = draw("path", { d: SHAPES[kind], look: `mark look${kind}`, transform: `translate(${px(point[X]).toFixed(1)},${py(point[Y]).toFixed(1)})${point.knee ? " scale(1.3)" : ""}`, role: "button", "aria-label": words }, draw("title", { text: words }));
    // below the drawing, so that it stays under the pointer
    for (const event of ["focus", "pointerenter"]) mark.addEventListener(event, () => { detail.textContent = words; });
    mark.point = point;
    return mark;
  });
  rove(marks, (mark, event) => choose(mark.point, event.shiftKey));
  const line = isNear && [draw("line", { look: "budget", x1: px(budget), x2: px(budget), y1: EDGE.top, y2: HEIGHT - EDGE.bottom }), draw("text", { x: px(budget) - 5, y: EDGE.top + 10, "text-anchor": "end", text: `budget $${short(budget)}` })];
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `${axes[Y].words} against ${axes[X].words}: arrow keys go from point to point` },
    ...ticks(y0, y1).flatMap((value) => [draw("line", { look: "gridline", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: py(value), y2: py(value) }), draw("text", { x: EDGE.left - 6, y: py(value) + 4, "text-anchor": "end", text: money(axes[Y].key, value) })]),
    ...ticks(x0, x1).map((value) => draw("text", { x: px(value), y: HEIGHT - EDGE.bottom + 18, "text-anchor": "middle", text: money(axes[X].key, value) })),
    draw("path", { look: "axis", d: `M${EDGE.left},${EDGE.top}V${HEIGHT - EDGE.bottom}H${WIDTH - EDGE.right}` }),
    draw("text", { x: WIDTH - EDGE.right, y: HEIGHT - 8, "text-anchor": "end", text: axes[X].words }), draw("text", { x: EDGE.left + 6, y: EDGE.top + 4, text: axes[Y].words }),
    ...(line || []), ...marks);
  // marks lie close: a click takes the nearest
  picture.addEventListener("click", (event) => {
    const far = (mark) => { const at_ = mark.getBoundingClientRect(); return Math.hypot(at_.x + at_.width / 2 - event.clientX, at_.y + at_.height / 2 - event.clientY); };
    const nearest = marks.reduce((best, mark) => (far(mark) < far(best) ? mark : best));
    if (far(nearest) < REACH) choose(nearest.point, event.shiftKey);
  });
  const list = make("details", {}, make("summary", { text: "As a table" }), table("Points of the front", [axes[X].words, axes[Y].words, "Design", "Do"], shown.map((point) => [money(axes[X].key, point[X]), money(axes[Y].key, point[Y]), point.summary || point.label || "",
    make("span", { look: "tools" }, button("Take", () => choose(point, false), { look: "small", disabled: !point.edits, title: point.why || null }), button("Compare", () => choose(point, true), { look: "small", disabled: !point.answer }))])));
  const opened = place.querySelector("details")?.open;
  const held = marks.length && place.contains(document.activeElement) ? all(".mark", place).indexOf(document.activeElement) : -1;
  list.open = Boolean(opened);
  place.replaceChildren(make("ul", { look: "legend" }, ...kinds.map((kind, index) => make("li", {}, symbol(SHAPES[index % SHAPES.length], `look${index % SHAPES.length}`), ` ${kind || "no design"}`))), picture, detail, make("p", { look: "note", text: [asked !== does.text() && !taken && "The case has changed since.", axes[X].key === "capex_usd" && budget && !isNear && `The budget of $${short(budget)} is ${budget > high ? "above" : "below"} all points.`, shown.find((point) => point.why)?.why, shown.some((point) => !point.why) && "A click makes the point the design; with Shift it is compared."].filter(Boolean).join(" ") }), list);
  if (marks[held]) marks[held].focus();
}

function choose(point, compares) {
  if (compares && point.answer) does.compare(point.answer, point.label || point.summary);
  else if (!compares && point.edits) { for (const mark of all(".mark")) mark.classList.toggle("chosen", mark.point === point); does.edit(point.edits); taken = true; }
  else say(point.why && !compares ? point.why : "The point can be taken when the front is whole.");
}
