// Sliders of the case's figures; the ends say which rule stops them.

import { at, button, make, one, short, wordsOf } from "./make.js";
import { desk, post } from "./server.js";

let does = {};
const rows = new Map();
const PRICED = [["switch", "switches"], ["nic", "NICs"], ["transceiver", "transceivers"], ["cable", "cables"], ["fibre", "fibre"], ["server", "servers"]];
const STEP = 5;

export function setUp(acts) {
  does = acts;
  const kind = make("select", { id: "price-kind", "aria-label": "Kind of part", onchange: () => showPrice() }, ...PRICED.map(([value, text]) => make("option", { value, text })));
  const input = make("input", { type: "range", id: "price", min: "-50", max: "100", step: String(STEP), "data-slides": "price", "aria-label": "Change of its price in percent", oninput: () => { does.price(kind.value, Number(input.value)); showPrice(); } });
  one("#price-row").append(make("div", { look: "slider" }, make("div", { look: "head" }, make("span", {}, "Price of ", kind), make("output", { for: "price", id: "price-now" })), input,
    make("div", { look: "ends" }, make("span", { text: "-50 %" }), make("span", { text: "+100 %" })), make("div", { look: "tools" }, button("As in the catalog", () => { does.price(null); showPrice(); }, { id: "price-back", look: "small" }))));
}

const percent = (value) => `${value > 0 ? "+" : ""}${value} %`;
function showPrice() {
  const value = does.prices()[one("#price-kind").value] || 0;
  one("#price").value = String(value);
  one("#price").setAttribute("aria-valuetext", percent(value));
  one("#price-now").textContent = percent(value);
  one("#price-back").hidden = !Object.keys(does.prices()).length;
}

/** What can be slid of a case: key, words, unit in which it is shown, values around the one that holds; `design`: what the answer has where the case says nothing. */
export function wanted(values, facts) {
  const found = [];
  const around = (middle, whole = true) => Array.from({ length: 25 }, (_, index) => middle * 2 ** ((index - 12) / 12)).map((value) => (whole ? Number(value.toPrecision(3)) : value));
  const capex = (facts && facts.capex_usd) || 1e6;
  const budget = at(values, "limits.budget_usd");
  found.push({ key: "limits.budget_usd", words: "Budget", say: (value) => `$${short(value)}`, now: budget, values: around(budget || capex) });
  (values.fabrics || [{ name: "compute" }]).forEach((fabric, index) => {
    if (!fabric || typeof fabric !== "object") return;
    const name = (values.fabrics || []).length > 1 ? ` of ${fabric.name}` : "";
    found.push({ key: `fabrics.${index}.min_gbps_per_gpu`, words: `Bandwidth${name}`, say: (value) => `${value} Gb/s a GPU`, now: fabric.min_gbps_per_gpu, design: index ? undefined : facts && facts.gbps_per_gpu, values: [25, 50, 100, 200, 400, 800] });
    if (typeof (fabric.max_oversubscription ?? 1) === "number") found.push({ key: `fabrics.${index}.max_oversubscription`, words: `Ratio${name}`, say: (value) => `${value} : 1`, now: fabric.max_oversubscription, design: index ? undefined : ratio(facts), values: [1, 1.5, 2, 3, 4, 6, 8] });
  });
  const size = (holder, key, name) => {
    for (const word of ["servers", "gpus"]) {
      const value = holder && holder[word];
      if (!Number.isFinite(value)) continue;
      const step = word === "gpus" ? 8 : 1;
      const steps = around(value).map((other) => Math.max(step, Math.round(other / step) * step));
      found.push({ key: `${key}${word}`, words: `${wordsOf(word).replace("gpus", "GPUs").replace("servers", "Servers")}${name}`, say: (other) => other.toLocaleString("en-US"), now: value, values: steps });
    }
  };
  size(values, "", "");
  (values.stages || []).forEach((stage, index) => size(stage, `stages.${index}.`, ` of ${stage && stage.name}`));
  return found;
}

/** The ratio of the first fabric of an answer, as its figures say it. */
const ratio = (facts) => Number(/oversubscription ([\d.]+):1/.exec(JSON.stringify((facts && facts.shown) || ""))?.[1]) || undefined;

const sorted = (values, now) => [...new Set(now === undefined || now === null ? values : [...values, now])].sort((a, b) => a - b);

function row(wish) {
  const id = `slider-${wish.key.replaceAll(".", "-")}`;
  const words = make("label", { for: id, text: wish.words });
  const shown = make("output", { for: id });
  const input = make("input", { type: "range", id, min: "0", step: "1", "data-slides": wish.key });
  const low = make("span", {});
  const high = make("span", {});
  const made = { wish, input, shown, low, high, asked: "", place: make("div", { look: "slider" }, make("div", { look: "head" }, words, shown), input, make("div", { look: "ends" }, low, high)) };
  input.addEventListener("input", () => {
    const value = made.values[Number(input.value)];
    shown.textContent = made.wish.say(value);
    input.setAttribute("aria-valuetext", made.wish.say(value));
    does.slide(made.wish.key, value);
  });
  const ends = () => ask(made);
  input.addEventListener("pointerdown", () => { made.held = true; ends(); });
  for (const end of ["pointerup", "pointercancel", "blur"]) input.addEventListener(end, () => { made.held = false; });
  input.addEventListener("change", () => { made.held = false; });
  input.addEventListener("focus", ends);
  return made;
}

function put(made, wish) {
  made.wish = wish;
  // a knob that is held stays under the pointer
  if (made.held) return;
  if (made.asked && made.asked !== does.without(wish.key)) Object.assign(made, { asked: "", found: null });
  made.values = sorted(made.found || wish.values, wish.now);
  stand(made);
  if (!made.found && !made.asked) { made.low.textContent = wish.say(made.values[0]); made.high.textContent = wish.say(made.values.at(-1)); }
}

/** Put the knob where the case has it; of what the case does not say where the answer has it, of a budget at its end. */
function stand(made) {
  const { now, design, say } = made.wish;
  const value = now ?? design;
  made.input.max = String(made.values.length - 1);
  made.input.value = String(Number.isFinite(value) ? made.values.reduce((best, other, index) => (Math.abs(other - value) < Math.abs(made.values[best] - value) ? index : best), 0) : made.values.length - 1);
  made.shown.textContent = Number.isFinite(now) ? say(now) : Number.isFinite(design) ? `${say(design)} (not set)` : "not set";
  made.input.setAttribute("aria-valuetext", made.shown.textContent);
}

/** Ask once for a state of the other keys where the ends of a slider are, and what stops it there. */
async function ask(made) {
  const state = does.without(made.wish.key);
  if (made.asked === state) return;
  made.asked = state;
  made.low.textContent = "looking for the ends...";
  made.high.textContent = "";
  try {
    const said = await post("/api/slider", { desk, text: does.text(), path: does.path(), prices: does.prices(), key: made.wish.key, low: null, high: null });
    if (made.asked !== state) return;
    made.found = said.values;
    const words = (end) => [made.wish.say(end.value), end.rule].filter(Boolean).join(", stopped by ");
    made.low.textContent = words(said.low);
    made.high.textContent = words(said.high);
    put(made, made.wish);
  } catch (error) {
    if (made.asked === state) made.asked = "";
    made.low.textContent = error.status === 503 ? "" : error.message;
  }
}

export function showSliders(values, facts) {
  if (!values || typeof values !== "object") return;
  one("#sliders-none").hidden = true;
  one("#price-row").hidden = false;
  showPrice();
  const wishes = wanted(values, facts);
  const keep = new Set(wishes.map((wish) => wish.key));
  for (const [key, made] of rows) if (!keep.has(key)) { made.place.remove(); rows.delete(key); }
  for (const wish of wishes) {
    if (!rows.has(wish.key)) { rows.set(wish.key, row(wish)); one("#slider-rows").append(rows.get(wish.key).place); }
    put(rows.get(wish.key), wish);
  }
}
