// The answer: first screen, badges, levers, drawing, floor, bill, parts; what breaks when something is broken.

import * as drawings from "./drawing.js";
import { all, at, button, dollars, draw, make, one, table, wordsOf } from "./make.js";
import * as parts from "./parts.js";
import { get } from "./server.js";

let now = null;
let does = {};
let drawn = 0;

/** `does`: edit(pairs) of the case, values(), text(), path(). */
export function setUp(acts) {
  does = { ...acts, show };
  drawings.setUp(does);
  parts.setUp(does);
  tabs(one("#result .views"), show);
}

/** Tabs: a click or the arrow keys choose; what is hidden is not read. */
export function tabs(list, then = () => {}) {
  const buttons = all("[role='tab']", list);
  const choose = (tab) => {
    for (const other of buttons) {
      const is = other === tab;
      other.setAttribute("aria-selected", String(is));
      other.tabIndex = is ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !is;
    }
    then(tab.getAttribute("aria-controls"));
  };
  buttons.forEach((tab, index) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const next = buttons[(index + step + buttons.length) % buttons.length];
      next.focus();
      choose(next);
    });
  });
}

const STATUS = { optimal: ["Proven: the best design there is", "good"], feasible: ["A design, not proven to be the best", "warn"], infeasible: ["No design keeps all of this", "bad"], unknown: ["Stopped before there was an answer", "bad"] };
export const verdict = (said) => STATUS[said.status] || ["Best so far"];

export function tell(words, look = "") {
  if (one("#status").textContent === words && one("#status").className === look) return;
  one("#status").textContent = words;
  one("#status").className = look;
}

/** Show an answer, whole: called again when its comparisons are known. */
export function showAnswer(said) {
  // with its comparisons the same design comes again under another name
  const again = now && (now.answer === said.answer || (now.run === said.run && now.status === said.status && now.facts.capex_usd === said.facts.capex_usd && now.facts.power_w === said.facts.power_w));
  if (again) for (const part of all("#result [role='tabpanel']")) if (part.dataset.of === now.answer) part.dataset.of = said.answer;
  now = said;
  drawings.rename(now);
  const facts = said.facts || {};
  one("#result").hidden = false;
  const [cost, ...more] = facts.headline || [];
  one("#headline").replaceChildren(...(cost ? [cost, make("small", { text: more.join(", ") })]
    : [facts.nearest ? "Below is the nearest design" : said.status === "unknown" ? "No answer yet" : "There is no design"]));
  const rows = said.screen || facts.shown || [];
  const first = rows.find(([label]) => /^(Network|Not met)/.test(label));
  one("#sentence").textContent = first ? `${/^Not/.test(first[0]) ? "Not met: " : ""}${first[1]}` : "";
  one("#sentence").className = (first && first[2]) || "";
  one("#screen").replaceChildren(...rows.filter((row) => row !== first).map(([label, text, style]) => make("div", {}, make("dt", { text: label }), make("dd", { look: style || null }, text, ...taking(facts, text)))));
  const levers = facts.levers || [];
  one("#levers").replaceChildren(...(levers.length ? [make("h3", { text: "Each of these alone gives a design" })] : []), ...levers.map((lever) => make("button", { type: "button", look: "lever", onclick: () => does.edit(lever.edits) }, ...leverWords(lever))));
  if (said.screen) badges(facts, null); else one("#badges").replaceChildren();
  const base = `/api/answer/${said.answer}`;
  one("#take").hidden = !(facts.fabrics || []).length;
  one("#take-drawing").hidden = !one("#drawing .topology");
  for (const [id, what, name] of [["page", "page", "html"], ["pack", "pack.zip", "zip"], ["design", "design", "json"]]) {
    one(`#take-${id}`).setAttribute("href", `${base}/${what}`);
    one(`#take-${id}`).setAttribute("download", `${facts.name || "design"}.${name}`);
  }
  one("#tab-floor").hidden = !facts.floor;
  if (!facts.floor && one("#tab-floor").getAttribute("aria-selected") === "true") one("#tab-drawing").click();
  if (again) return;
  drawings.begin(now);
  for (const id of Object.keys(fillers)) { one(`#${id}`).dataset.of = ""; one(`#${id}`).classList.add("old"); }
  show(all(".views [aria-selected='true']")[0].getAttribute("aria-controls"));
}

/** The button that makes an alternative of the screen the case. */
function taking(facts, text) {
  const row = (facts.instead || []).find((one_) => one_.words === text && one_.edits.length);
  return row ? [" ", button("Take", () => does.edit(row.edits), { look: "small", "aria-label": `Take: ${text}` })] : [];
}

/** What a lever sets, and what that gives. */
function leverWords({ words, edits, price }) {
  const set = edits.map(([key, value]) => {
    const name = key.split(".").pop();
    const fabric = /^fabrics\.(\d+)\./.exec(key.replace(/\[(\d+)\]/g, ".$1"));
    const of = fabric && (now.facts.fabrics || []).length > 1 ? ` of ${at(does.values(), `fabrics.${fabric[1]}.name`) || "compute"}` : "";
    const shown = typeof value === "number" ? (name.endsWith("_usd") ? dollars(value) : value.toLocaleString("en-US")) : Array.isArray(value) ? value.join(", ") : String(value);
    return value === null ? `Take out ${wordsOf(name)}${of}` : `Set ${wordsOf(name)}${of} to ${shown}`;
  });
  const gives = words.split(" with ")[0].split(/(?:^|: )\$/)[0];
  return [make("strong", { text: set.join(", ") || words }), make("small", { text: [gives, price && `a design of ${price}`].filter(Boolean).join("; ") })];
}

async function badges(facts, rules) {
  const off = (rules && rules.off) || does.off();
  const out = facts.left_out || [];
  const meaning = does.rules();
  // what a rule means is a click away, or Enter
  const badge = (look, words, names) => {
    const means = names.filter((name) => meaning[name]).map((name) => make("p", { text: names.length > 1 ? `${name}: ${meaning[name]}` : meaning[name] }));
    return make("li", { look }, means.length ? make("details", {}, make("summary", { text: words }), ...means) : words);
  };
  const ruleOf = (name) => name.replace(/^rules?[. ]/, "").split(" ")[0];
  const moved = Object.entries(does.prices()).map(([kind, change]) => `${kind} ${change > 0 ? "+" : ""}${change} %`);
  one("#badges").replaceChildren(...(moved.length ? [make("li", { look: "out", text: `Prices moved by the slider: ${moved.join(", ")}` })] : []), ...out.map((row) => badge("out", `Left out: ${row.words.startsWith(row.rule) ? "" : `${row.rule}: `}${row.words}`, [ruleOf(row.rule)])),
    ...(off.length ? [badge("off", `Off: ${off.map((row) => row.rule).join(", ")}`, off.map((row) => ruleOf(row.rule)))] : []),
    ...((rules && rules.price) || []).map((words) => make("li", { look: "off", text: `If kept: ${words}` })));
  if (!rules && (now.facts.fabrics || []).length) {
    const of = now.answer;
    try { const said = await get(`/api/answer/${of}/rules`); if (now.answer === of) badges({ left_out: said.left_out }, said); } catch { /* the badges of the case stay */ }
  }
}

const fillers = { drawing: drawings.showDrawing, floor: drawings.showFloor, bill: showBill, parts: () => parts.showParts(now) };
async function show(id, again = false) {
  const place = one(`#${id}`);
  if (!now || (place.dataset.of === now.answer && !again)) return;
  const of = now.answer;
  const mine = (drawn += 1);
  place.dataset.of = of;
  try {
    const made = await fillers[id](`/api/answer/${of}`);
    if (place.dataset.of === now.answer) { replace(place, made); place.classList.remove("old"); drawings.mark(); }
  } catch (error) {
    if (place.dataset.of === now.answer) { place.replaceChildren(make("p", { look: "note", text: error.message })); place.classList.remove("old"); }
    if (mine === drawn && !error.status) place.dataset.of = "";
  }
}

/** Put new content in a place; what had the focus there has it in the new content, if it is there again. */
function replace(place, made) {
  const held = place.contains(document.activeElement) ? document.activeElement : null;
  const same = (name, value) => all(`[data-${name}]`, place).find((one_) => one_.dataset[name] === value);
  place.replaceChildren(...made);
  const there = held && (held.dataset.node ? same("node", held.dataset.node) : held.dataset.rack && same("rack", held.dataset.rack));
  if (there) there.focus({ preventScroll: true });
}

/** Have the bill there for who prints the page. */
export function ready() { if (now && (now.facts.fabrics || []).length) show("bill"); }

async function showBill(base) {
  const said = await get(`${base}/bill`);
  return [make("p", { look: "tools" }, ...["csv", "xlsx"].map((kind) => make("a", { look: "button", id: `bill-${kind}`, href: `${base}/bill.${kind}`, download: `${now.facts.name}-bill.${kind}`, text: `Download ${kind.toUpperCase()}` }))),
    table("Bill of materials", said.heads.slice(1), said.rows.map((row) => { const name = make("span", {}, row[1]); if (row[0]) name.append(make("small", { text: ` ${row[0]}` })); return [name, ...row.slice(2)]; }), { numbers: said.numbers.slice(1) }),
    ...said.foot.map((words) => make("p", { look: "note", text: words }))];
}

export const current = () => now;
export const symbol = (shape, look) => draw("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, draw("path", { d: shape, look }));
