// Parts of the catalog: ban, pin, and why one is not in the answer.

import { at, button, make, table } from "./make.js";
import { desk, get, post } from "./server.js";

const MOST = 20;
const TIERS = ["leaf", "spine", "core"];
const BANNED = "procurement.forbidden_parts";
let does = {};
let known = { of: "", parts: null };

export const setUp = (acts) => { does = acts; };

/** The parts of an answer's catalogs, asked for once. */
export async function partsOf(answer) {
  if (known.of !== answer) known = { of: answer, parts: await get(`/api/answer/${answer}/parts`) };
  return known.parts;
}

const flip = (list, id) => (list.includes(id) ? list.filter((one_) => one_ !== id) : [...list, id]);
const toggle = (words, key, list, id, label) => button(words, () => { const next = flip(list, id); does.edit([[key, next.length ? next : null]]); }, { look: "small", "aria-pressed": String(list.includes(id)), "aria-label": label });
const listAt = (key) => { const set = at(does.values(), key); return Array.isArray(set) ? set : set ? [set] : []; };

export const banning = (part) => toggle("Ban", BANNED, listAt(BANNED), part.id, `Ban ${part.id}`);

/** Buttons that pin a part in a fabric: to a tier, or as its NIC. None for a fabric that the case does not write. */
export function pinning(part, tier, fabric) {
  const written = at(does.values(), "fabrics") || [];
  const index = written.length ? written.findIndex((one_) => one_ && one_.name === fabric) : 0;
  if (index < 0 || !["switches", "nics"].includes(part.kind)) return [];
  const places = part.kind === "nics" ? [["NIC", "nics"]] : TIERS.filter((one_) => !tier || one_ === tier).map((one_) => [one_, `switches.${one_}`]);
  return places.map(([words, key]) => toggle(`Pin as ${words}`, `fabrics.${index}.${key}`, listAt(`fabrics.${index}.${key}`), part.id, `Pin ${part.id} as ${words} of ${fabric}`));
}

export async function showParts(now) {
  const said = [...await partsOf(now.answer)].sort((a, b) => (b.bought > 0) - (a.bought > 0));
  const fabrics = now.facts.fabrics || [];
  const place = make("div", {});
  const search = make("input", { type: "search", id: "part-search", autocomplete: "off", spellcheck: "false", oninput: () => list() });
  const fabric = make("select", { id: "part-fabric", onchange: () => list() }, ...fabrics.map((name) => make("option", { value: name, text: name })));
  const row = (part) => {
    const words = make("p", { role: "status", look: "why" });
    const why = async () => {
      words.textContent = "Asking...";
      try { words.textContent = (await post("/api/why-not", { desk, text: does.text(), path: does.path(), prices: does.prices(), part: part.id })).words; } catch (error) { words.textContent = error.message; }
    };
    return [make("span", {}, part.words, make("small", { text: ` ${part.id}` })), part.bought || "", make("div", {}, make("span", { look: "tools" }, banning(part), ...pinning(part, "", fabric.value),
      !part.bought && button("Why not?", why, { look: "small", "aria-label": `Why not ${part.id}?` })), words)];
  };
  const list = () => {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = said.filter((part) => (wanted.length ? wanted.every((word) => `${part.id} ${part.words} ${part.kind}`.toLowerCase().includes(word)) : part.bought || listAt(BANNED).includes(part.id)));
    place.replaceChildren(table("Parts", ["Part", "Bought", "Do"], hits.slice(0, MOST).map(row), { numbers: [false, true, false] }), make("p", { look: "note", text: hits.length > MOST ? `${MOST} of ${hits.length} parts: search for others` : "" }));
  };
  list();
  return [make("div", { look: "tools" }, make("label", { for: "part-search", text: "Search all parts" }), search, ...(fabrics.length > 1 ? [make("label", { for: "part-fabric", text: "Pin in fabric" }), fabric] : [])), place];
}
