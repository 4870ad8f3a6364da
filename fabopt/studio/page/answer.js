// The answer: first screen, badges, levers, drawing, floor, bill, parts; what breaks when something is broken.

import { all, at, button, dollars, draw, drawing, make, one, table } from "./make.js";
import { get, post } from "./server.js";

let now = null;
let does = {};
let chosen = "";
let broken = null;
let drawn = 0;

/** `does`: edit(pairs) of the case, values(), text(), path(). */
export function setUp(acts) {
  does = acts;
  tabs(one("#result .views"), show);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && broken) mend(); });
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
  const facts = said.facts || {};
  one("#result").hidden = false;
  const cost = facts.capex_usd;
  one("#headline").replaceChildren(...(cost === undefined || cost === null
    ? [facts.nearest ? "The nearest design is drawn below." : "There is no design."]
    : [dollars(cost), make("small", { text: [facts.gpus && `${dollars(cost / facts.gpus)} a GPU`, facts.gbps_per_gpu && `${facts.gbps_per_gpu} Gb/s a GPU`, facts.power_w && `${(facts.power_w / 1000).toFixed(1)} kW`].filter(Boolean).join(", ") })]));
  one("#screen").replaceChildren(...(said.screen || facts.shown || []).map(([label, text, style]) => make("div", {}, make("dt", { text: label }), make("dd", { text, look: style || null }))));
  one("#levers").replaceChildren(...(facts.levers || []).map((lever) => button(lever.words, () => does.edit(lever.edits), { look: "lever" })));
  if (said.screen) badges(facts, null); else one("#badges").replaceChildren();
  const base = `/api/answer/${said.answer}`;
  one("#take").hidden = !(facts.fabrics || []).length;
  for (const [id, what, name] of [["page", "page", "html"], ["pack", "pack.zip", "zip"], ["design", "design", "json"]]) {
    one(`#take-${id}`).setAttribute("href", `${base}/${what}`);
    one(`#take-${id}`).setAttribute("download", `${facts.name || "design"}.${name}`);
  }
  one("#tab-floor").hidden = !facts.floor;
  if (!facts.floor && one("#tab-floor").getAttribute("aria-selected") === "true") one("#tab-drawing").click();
  if (again) return;
  mend();
  for (const id of ["drawing", "floor", "bill", "parts"]) one(`#${id}`).dataset.of = "";
  show(all(".views [aria-selected='true']")[0].getAttribute("aria-controls"));
}

async function badges(facts, rules) {
  const off = (rules && rules.off) || does.off();
  const out = facts.left_out || [];
  one("#badges").replaceChildren(...out.map((row) => make("li", { look: "out", text: `Left out: ${row.rule}: ${row.words}` })),
    ...off.map((row) => make("li", { look: "off", text: `Off: ${row.rule}${row.words && row.words !== row.rule ? `: ${row.words}` : ""}` })),
    ...((rules && rules.price) || []).map((words) => make("li", { look: "off", text: words })));
  if (!rules && (now.facts.fabrics || []).length) {
    const of = now.answer;
    try { const said = await get(`/api/answer/${of}/rules`); if (now.answer === of) badges({ left_out: said.left_out }, said); } catch { /* the badges of the case stay */ }
  }
}

const fillers = { drawing: showDrawing, floor: showFloor, bill: showBill, parts: showParts };
async function show(id) {
  const place = one(`#${id}`);
  if (!now || place.dataset.of === now.answer) return;
  const of = now.answer;
  const mine = (drawn += 1);
  place.dataset.of = of;
  try {
    const made = await fillers[id](`/api/answer/${of}`);
    if (place.dataset.of === now.answer) place.replaceChildren(...made);
  } catch (error) {
    if (place.dataset.of === now.answer) place.replaceChildren(make("p", { look: "note", text: error.message }));
    if (mine === drawn && !error.status) place.dataset.of = "";
  }
}

async function showDrawing(base) {
  const fabrics = now.facts.fabrics || [];
  if (!fabrics.includes(chosen)) [chosen] = fabrics;
  const text = await get(`${base}/drawing?fabric=${encodeURIComponent(chosen || "")}`);
  const picture = drawing(text);
  const choice = fabrics.length > 1 && make("p", {}, ...fabrics.map((name) => button(name, () => { chosen = name; one("#drawing").dataset.of = ""; show("drawing"); }, { "aria-pressed": String(name === chosen), look: "small" })));
  if (!picture) return [choice, make("p", { look: "note", text: "There is no drawing." })].filter(Boolean);
  picture.classList.add("topology");
  const detail = make("p", { look: "detail", "aria-live": "polite", text: "Choose a switch to break it: a click, or Tab and Enter. Escape mends." });
  const lines = all("polyline", picture);
  const light = (box) => {
    for (const line of lines) line.classList.toggle("lit", Boolean(box) && [line.dataset.a, line.dataset.b].includes(box.dataset.node));
    if (box) detail.textContent = box.getAttribute("aria-label");
  };
  for (const box of all(".box", picture)) {
    const kind = ["leaf", "spine", "core"].find((word) => box.classList.contains(word));
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
  return [choice, make("div", { look: "scroll", tabindex: "0", role: "region", "aria-label": `Drawing of ${chosen}` }, picture), detail].filter(Boolean);
}

/** Break a device, and mark what degrades and what is cut off. */
async function lose(kind, name) {
  if (broken === `${kind} ${name}`) { mend(); return; }
  broken = `${kind} ${name}`;
  one("#broken").replaceChildren(make("p", { text: `Looking what happens without this ${kind}...` }));
  try {
    const said = await post("/api/break", { answer: now.answer, fabric: chosen || null, kind, name });
    if (broken !== `${kind} ${name}`) return;
    unmark();
    for (const [node, look] of Object.entries(said.marks || {})) all("#drawing .box").filter((box) => box.dataset.node === node).forEach((box) => box.classList.add(look));
    for (const [rack, look] of Object.entries(said.racks || {})) all("#floor [data-rack]").filter((one_) => one_.dataset.rack === rack).forEach((one_) => one_.classList.add(look));
    one("#broken").replaceChildren(make("p", { text: said.words }), button("Mend", mend, { look: "small" }));
  } catch (error) {
    one("#broken").replaceChildren(make("p", { text: error.message }), button("Mend", mend, { look: "small" }));
  }
}
const unmark = () => all("#drawing .box, #floor .rack").forEach((part) => part.classList.remove("down", "cut", "degraded"));
function mend() {
  broken = null;
  unmark();
  one("#broken").replaceChildren();
}

async function showFloor(base) {
  const said = await get(`${base}/floor`);
  const about = make("p", { look: "detail", "aria-live": "polite", text: "Point at a rack for what stands there; choose it to break it." });
  const racks = said.rows.map(([name, cells]) => make("div", {}, make("span", { text: name }), ...cells.map((cell) => make("button", {
    type: "button", look: `rack ${cell.use}`, "data-rack": cell.id, "aria-label": cell.words, title: cell.words, onclick: () => lose("rack", cell.id),
    onfocus: () => { about.textContent = cell.words; }, onpointerenter: () => { about.textContent = cell.words; } }))));
  const map = make("div", { look: "map", role: "group", "aria-label": "Floor plan" }, ...racks);
  const marks = all("button", map);
  const wide = said.rows[0] ? said.rows[0][1].length : 1;
  marks.forEach((mark, index) => {
    mark.tabIndex = index ? -1 : 0;
    mark.addEventListener("keydown", (event) => {
      const next = marks[index + ({ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -wide, ArrowDown: wide }[event.key] || 0)];
      if (next && next !== mark) { event.preventDefault(); mark.tabIndex = -1; next.tabIndex = 0; next.focus(); }
    });
  });
  return [...said.lines.map((words) => make("p", { text: words })), make("ul", { look: "legend" }, ...said.uses.map(([use, number]) => make("li", {}, make("span", { look: `swatch rack ${use}` }), `${use}: ${number}`))),
    make("div", { look: "scroll", tabindex: "0", role: "region", "aria-label": "Floor plan" }, map), about];
}

async function showBill(base) {
  const said = await get(`${base}/bill`);
  return [make("p", { look: "tools" }, ...["csv", "xlsx"].map((kind) => make("a", { look: "button", id: `bill-${kind}`, href: `${base}/bill.${kind}`, download: `${now.facts.name}-bill.${kind}`, text: `Download ${kind.toUpperCase()}` }))),
    table("Bill of materials", said.heads.slice(1), said.rows.map((row) => { const name = make("span", {}, row[1]); if (row[0]) name.append(make("small", { text: ` ${row[0]}` })); return [name, ...row.slice(2)]; }), { numbers: said.numbers.slice(1) }),
    ...said.foot.map((words) => make("p", { look: "note", text: words }))];
}

const TIERS = ["leaf", "spine", "core"];
/** The edits that pin or ban a part; of one that is pinned or banned those that free it. */
function ban(part) {
  const list = at(does.values(), "procurement.forbidden_parts") || [];
  return [["procurement.forbidden_parts", list.includes(part.id) ? (list.length > 1 ? list.filter((id) => id !== part.id) : null) : [...list, part.id]]];
}
function pinTo(part, role) {
  const key = role === "nic" ? "fabrics.0.nics" : `fabrics.0.switches.${role}`;
  const set = at(does.values(), key);
  return [[key, Array.isArray(set) && set.includes(part.id) ? null : [part.id]]];
}

async function showParts(base) {
  const said = await get(`${base}/parts`);
  said.sort((a, b) => (b.bought > 0) - (a.bought > 0));
  const place = make("div", {});
  const search = make("input", { type: "search", id: "part-search", autocomplete: "off", spellcheck: "false", oninput: () => list() });
  const words = make("p", { role: "status", id: "why" });
  const row = (part) => {
    const banned = (at(does.values(), "procurement.forbidden_parts") || []).includes(part.id);
    const roles = part.kind === "switches" ? TIERS : part.kind === "nics" ? ["nic"] : [];
    return [make("span", {}, part.words, make("small", { text: ` ${part.id}` })), part.bought || "", make("span", { look: "tools" },
      button(banned ? "Allow" : "Ban", () => does.edit(ban(part)), { look: "small", "aria-label": `${banned ? "Allow" : "Ban"} ${part.id}` }),
      ...roles.map((role) => button(`Pin as ${role}`, () => does.edit(pinTo(part, role)), { look: "small", "aria-label": `Pin ${part.id} as ${role}` })),
      button("Why not?", async () => {
        words.textContent = `Asking about ${part.id}...`;
        try { words.textContent = (await post("/api/why-not", { desk: does.desk, text: does.text(), path: does.path(), part: part.id })).words; } catch (error) { words.textContent = error.message; }
      }, { look: "small", "aria-label": `Why not ${part.id}?` }))];
  };
  const list = () => {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = said.filter((part) => (wanted.length ? wanted.every((word) => `${part.id} ${part.words} ${part.kind}`.toLowerCase().includes(word)) : part.bought));
    place.replaceChildren(table("Parts", ["Part", "Bought", "Do"], hits.slice(0, 40).map(row), { numbers: [false, true, false] }), make("p", { look: "note", text: hits.length > 40 ? `40 of ${hits.length} parts` : "" }));
  };
  list();
  return [make("p", { look: "tools" }, make("label", { for: "part-search", text: "Search all parts" }), search), words, place];
}

export const current = () => now;
export const symbol = (shape, look) => draw("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, draw("path", { d: shape, look }));
