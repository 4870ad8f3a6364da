// Sliders of the case's figures; the ends say which rule stops them.

import { at, make, one, short, wordsOf } from "./make.js";
import { desk, post } from "./server.js";

let does = {};
const rows = new Map();

export const setUp = (acts) => { does = acts; };

/** What can be slid of a case: key, words, unit in which it is shown, values around the one that holds. */
function wanted(values, facts) {
  const found = [];
  const around = (middle, whole = true) => Array.from({ length: 25 }, (_, index) => middle * 2 ** ((index - 12) / 12)).map((value) => (whole ? Number(value.toPrecision(3)) : value));
  const capex = (facts && facts.capex_usd) || 1e6;
  const budget = at(values, "limits.budget_usd");
  found.push({ key: "limits.budget_usd", words: "Budget", say: (value) => `$${short(value)}`, now: budget, values: around(budget || capex) });
  (values.fabrics || [{ name: "compute" }]).forEach((fabric, index) => {
    if (!fabric || typeof fabric !== "object") return;
    const name = (values.fabrics || []).length > 1 ? ` of ${fabric.name}` : "";
    found.push({ key: `fabrics.${index}.min_gbps_per_gpu`, words: `Bandwidth${name}`, say: (value) => `${value} Gb/s a GPU`, now: fabric.min_gbps_per_gpu, values: [25, 50, 100, 200, 400, 800] });
    if (typeof (fabric.max_oversubscription ?? 1) === "number") found.push({ key: `fabrics.${index}.max_oversubscription`, words: `Ratio${name}`, say: (value) => `${value} : 1`, now: fabric.max_oversubscription, values: [1, 1.5, 2, 3, 4, 6, 8] });
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
  input.addEventListener("pointerdown", ends);
  input.addEventListener("focus", ends);
  return made;
}

function put(made, wish) {
  made.wish = wish;
  if (document.activeElement === made.input && made.held) { made.held = false; return; }
  made.values = sorted(made.found || wish.values, wish.now);
  made.input.max = String(made.values.length - 1);
  const middle = wish.now === undefined || wish.now === null ? (wish.key === "limits.budget_usd" || wish.key.endsWith("oversubscription") ? made.values.length - 1 : 0) : made.values.indexOf(wish.now);
  made.input.value = String(middle);
  made.shown.textContent = wish.now === undefined || wish.now === null ? "not set" : wish.say(wish.now);
  made.input.setAttribute("aria-valuetext", made.shown.textContent);
  if (!made.found && !made.asked) { made.low.textContent = wish.say(made.values[0]); made.high.textContent = wish.say(made.values.at(-1)); }
}

/** Ask once for a state of the other keys where the ends of a slider are, and what stops it there. */
async function ask(made) {
  const state = does.without(made.wish.key);
  if (made.asked === state) return;
  made.asked = state;
  made.low.textContent = "looking for the ends...";
  made.high.textContent = "";
  try {
    const said = await post("/api/slider", { desk, text: does.text(), path: does.path(), key: made.wish.key, low: null, high: null });
    made.found = said.values;
    const words = (end) => [made.wish.say(end.value), end.rule].filter(Boolean).join(": ");
    made.low.textContent = words(said.low);
    made.high.textContent = words(said.high);
    const now = made.values[Number(made.input.value)];
    made.values = sorted(said.values, made.wish.now);
    made.input.max = String(made.values.length - 1);
    made.input.value = String(made.values.reduce((best, value, index) => (Math.abs(value - now) < Math.abs(made.values[best] - now) ? index : best), 0));
  } catch (error) {
    if (made.asked === state) made.asked = "";
    made.low.textContent = error.message;
  }
}

export function showSliders(values, facts) {
  if (!values || typeof values !== "object") return;
  one("#sliders-none").hidden = true;
  const wishes = wanted(values, facts);
  const keep = new Set(wishes.map((wish) => wish.key));
  for (const [key, made] of rows) if (!keep.has(key)) { made.place.remove(); rows.delete(key); }
  for (const wish of wishes) {
    if (!rows.has(wish.key)) { rows.set(wish.key, row(wish)); one("#slider-rows").append(rows.get(wish.key).place); }
    put(rows.get(wish.key), wish);
  }
}
