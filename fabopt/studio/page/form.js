// The case as a form, walked from its JSON schema.

import { all, at, button, faultWords, make, one, plain, unitOf, wordsOf } from "./make.js";

const opened = new Set(["case"]);
let schema = {};
let choices = {};
let act = () => {};
let faults = [];
let ids = 0;
let shownFaults = new Set();

const resolve = (node) => (node.$ref ? { ...at(schema, node.$ref.slice(2).replaceAll("/", ".")), ...node, $ref: undefined } : node);
/** The kinds of value that a key may have, null aside. */
const variants = (node) => (node.anyOf || node.oneOf ? (node.anyOf || node.oneOf).flatMap((kind) => variants(resolve(kind))) : [node]).filter((kind) => kind.type !== "null");
const isMap = (kind) => kind.type === "object";
const isRows = (kind) => kind.type === "array" && variants(resolve(kind.items || {})).some(isMap);

export function setUp(said, does) {
  schema = said.schema;
  const ids_ = Object.values(said.parts || {}).flat();
  choices = { ...said.choices, "rules.*": Object.entries(said.rules || {}), "procurement.forbidden_parts": ids_, "procurement.approved_parts": ids_ };
  act = does;
  for (const [pattern, found] of Object.entries(choices)) {
    one("#lists").append(make("datalist", { id: listId(pattern) }, ...found.map((choice) => (Array.isArray(choice) ? make("option", { value: choice[0], text: choice[1] }) : make("option", { value: choice })))));
  }
  one("#find").addEventListener("input", find);
  // one place says what the key that is pointed at, or has the focus, means: no bubble lies over a field
  for (const event of ["pointerover", "pointerleave", "focusin", "focusout"]) one("#fields").addEventListener(event, (seen) => tellMeaning(seen.type === "pointerover" ? seen.target : null));
}

function tellMeaning(pointed) {
  const field_ = (pointed && pointed.closest(".field")) || (document.activeElement && document.activeElement.closest("#fields .field"));
  const words = field_ ? one(".means", field_).textContent : "";
  one("#means").hidden = !words;
  one("#means").textContent = words;
}

const listId = (pattern) => `list-${pattern.replace(/[^a-z_]/g, "-").replace("*", "")}`;
const patternOf = (key) => key.replace(/\.\d+(?=\.|$)/g, "[]");
const faultOf = (key) => faults.find((fault) => plain(fault.key) === key);
const shown = (value) => (Array.isArray(value) ? value.map(shown).join(", ") : value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));

/** What was typed, as a value: a number where it is one, a list where there are commas or only lists are allowed. */
function meant(text, kinds) {
  const words = text.trim();
  if (words === "") return null;
  const scalar = (word) => (word !== "" && Number.isFinite(Number(word)) && kinds.some((kind) => /number|integer|array/.test(kind.type) || kind.enum || kind.const) && !(kinds.every((kind) => kind.type === "string")) ? Number(word) : word === "true" ? true : word === "false" ? false : word);
  const lists = kinds.some((kind) => kind.type === "array");
  if (lists && (words.includes(",") || kinds.every((kind) => kind.type === "array"))) return words.split(",").map((word) => scalar(word.trim())).filter((word) => word !== "");
  return scalar(words);
}

function control(node, key, value, facts) {
  const kinds = variants(node);
  const words = kinds.flatMap((kind) => kind.enum || (kind.const !== undefined ? [kind.const] : []));
  const closed = kinds.every((kind) => kind.enum || kind.const !== undefined || kind.type === "boolean");
  const usual = node.default === undefined || node.default === null || node.default === "" ? "" : shown(node.default);
  if (closed) {
    const options = [...words, ...(kinds.some((kind) => kind.type === "boolean") ? [true, false] : [])];
    const select = make("select", { ...facts, onchange: () => act(key, select.value === "" ? null : options[Number(select.value)]) },
      make("option", { value: "", text: usual ? `${usual} (default)` : "not set" }), ...options.map((option, index) => make("option", { value: index, text: String(option) })));
    // a value that is not allowed is shown as it is
    if (value !== undefined && value !== null && !options.includes(value)) { options.push(value); select.append(make("option", { value: options.length - 1, text: shown(value) })); }
    select.value = value === undefined || value === null ? "" : String(options.indexOf(value));
    return select;
  }
  const pattern = patternOf(key);
  let list = choices[pattern] ? listId(pattern) : null;
  const inner = kinds.flatMap((kind) => variants(resolve(kind.items || {}))).flatMap((kind) => kind.enum || []);
  if (!list && (words.length || inner.length)) {
    list = `list-words-${key.replace(/[^a-z0-9]/gi, "-")}`;
    if (!document.getElementById(list)) one("#lists").append(make("datalist", { id: list }, ...[...new Set([...words, ...inner])].map((word) => make("option", { value: word }))));
  }
  const input = make("input", { ...facts, list, autocomplete: "off", spellcheck: "false", placeholder: usual, onchange: () => act(key, meant(input.value, kinds)) });
  if (kinds.every((kind) => /number|integer/.test(kind.type))) input.setAttribute("inputmode", "decimal");
  input.value = shown(value);
  return input;
}

function field(node, key, name, value) {
  const id = `field-${(ids += 1)}`;
  const fault = faultOf(key);
  const means = make("span", { look: "means hidden", id: `${id}-means`, text: `${key}: ${node.description || name}` });
  const facts = { id, "data-key": key, "aria-describedby": fault ? `${id}-fault ${id}-means` : `${id}-means`, "aria-invalid": fault ? "true" : null };
  const unit = unitOf(name);
  return make("div", { look: value === undefined ? "field unset" : "field" }, make("label", { for: id, text: wordsOf(name) }),
    make("div", { look: "with" }, control(node, key, value, facts), unit && make("small", { text: unit })),
    fault && make("p", { look: "fault", id: `${id}-fault`, text: faultWords(fault) }), means);
}

function folded(key, words, does, open = false) {
  const part = make("details", { "data-part": key, open: open || opened.has(key) }, make("summary", { text: words }));
  const fillIn = () => { if (part.open && part.children.length === 1) part.append(...[does()].flat()); };
  part.addEventListener("toggle", () => { opened[part.open ? "add" : "delete"](key); fillIn(); });
  fillIn();
  return part;
}

/** What is set of an object's keys, then what else there could be. */
function keys(node, key, value) {
  const names = Object.keys(node.properties || {});
  const set = names.filter((name) => value && value[name] !== undefined);
  const rest = names.filter((name) => !set.includes(name));
  const part = (name) => walk(resolve(node.properties[name]), key ? `${key}.${name}` : name, name, value ? value[name] : undefined);
  return [...set.map(part), rest.length > 0 && folded(`${key}/more`, `${rest.length} more ${rest.length === 1 ? "key" : "keys"}`, () => rest.map(part), names.length < 5 && set.length === 0)].filter(Boolean);
}

function entries(node, key, value) {
  const kind = resolve(node.additionalProperties || {});
  const name = make("input", { "aria-label": `new entry of ${key}`, placeholder: "name", list: choices[`${patternOf(key)}.*`] ? listId(`${patternOf(key)}.*`) : null, autocomplete: "off" });
  const worth = make("input", { "aria-label": `its value`, placeholder: kind.type === "boolean" ? "false" : "value", autocomplete: "off" });
  const known = choices[`${patternOf(key)}.*`] || [];
  const missing = make("p", { look: "fault", role: "alert" });
  const add = button("Add", () => {
    const [what, to] = [name.value.trim(), worth.value.trim() || (kind.type === "boolean" ? "false" : "")];
    missing.textContent = what && to ? "" : `Give ${what ? "its value" : `a name${known.length ? `, as ${known[0][0]}` : ""}`} first.`;
    if (missing.textContent) (what ? worth : name).focus(); else act(`${key}.${what}`, meant(to, variants(kind)));
  });
  const meaning = make("small", {});
  name.addEventListener("input", () => { missing.textContent = ""; meaning.textContent = (known.find(([id]) => id === name.value) || [])[1] || ""; });
  const means = (word) => (known.find(([id]) => id === word) || [])[1];
  return [...Object.entries(value || {}).map(([word, one_]) => walk({ ...kind, description: means(word) || kind.description }, `${key}.${word}`, word, one_)), make("div", { look: "tools" }, name, worth, add), meaning, missing];
}

function rows(node, key, value) {
  const kind = variants(resolve(node.items)).find(isMap);
  const found = Array.isArray(value) ? value : [];
  return [...found.map((row, index) => {
    const name = (row && row.name) || `${index + 1}`;
    return folded(`${key}.${index}`, name, () => make("div", { look: "inner" }, ...keys(kind, `${key}.${index}`, row), button("Take out", () => act(`${key}.${index}`, null), { look: "small", "aria-label": `Take out ${name}` })), true);
  }), button(`Add to ${wordsOf(key.split(".").pop())}`, () => act(key, [...found, { name: `${key.split(".").pop().replace(/s$/, "")}-${found.length + 1}` }]), { look: "small" })];
}

function walk(node, key, name, value) {
  const kinds = variants(node);
  const map = kinds.find(isMap);
  const list = kinds.find(isRows);
  const simple = kinds.filter((kind) => !isMap(kind) && !isRows(kind));
  if (list && (Array.isArray(value) || !simple.length)) return folded(key, wordsOf(name), () => make("div", { look: "inner" }, ...rows(list, key, value)));
  if (map && (!simple.length || (value === undefined && !map.properties) || (value !== null && typeof value === "object" && !Array.isArray(value)))) {
    return folded(key, wordsOf(name), () => make("div", { look: "inner" }, ...(map.properties ? keys(map, key, value) : entries(map, key, value))), value !== undefined);
  }
  return field(node, key, name, value);
}

/** Draw the form; what has the focus keeps it. */
export function showForm(values, found) {
  faults = found;
  if (!values || typeof values !== "object") return;
  for (const key of found.map((fault) => plain(fault.key))) if (!shownFaults.has(key)) key.split(".").forEach((_, index, names) => opened.add(names.slice(0, index + 1).join(".")));
  shownFaults = new Set(found.map((fault) => plain(fault.key)));
  const focus = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : undefined;
  const place = one("#fields");
  const whole = Object.entries(schema.properties);
  const flat = whole.filter(([, node]) => !variants(resolve(node)).some((kind) => isMap(kind) || isRows(kind)));
  const deep = whole.filter((pair) => !flat.includes(pair)).sort((a, b) => (values[b[0]] !== undefined) - (values[a[0]] !== undefined));
  place.replaceChildren(folded("case", "cluster", () => keys({ properties: Object.fromEntries(flat) }, "", values)),
    ...deep.map(([name, node]) => walk(resolve(node), name, name, values[name])));
  if (focus) { const again = all("[data-key]", place).find((part) => part.dataset.key === focus); if (again) again.focus(); }
}

/** Go to a key: what it is in is opened. */
export function goTo(key, values) {
  const names = plain(key).split(".");
  opened.add("case").add("/more");
  names.forEach((_, index) => { const part = names.slice(0, index + 1).join("."); opened.add(part).add(`${part}/more`); });
  showForm(values, faults);
  const found = all("[data-key]", one("#fields")).find((part) => part.dataset.key === plain(key)) || all("[data-part]", one("#fields")).find((part) => part.dataset.part === plain(key))?.firstChild;
  if (found) { found.scrollIntoView({ block: "center" }); found.focus(); }
}

let known = null;
function everyKey(node, key, depth, into) {
  for (const [name, below] of Object.entries(node.properties || {})) {
    const part = resolve(below);
    const here = key ? `${key}.${name}` : name;
    into.push([here, part.description || ""]);
    if (depth < 3) for (const kind of variants(part)) {
      if (isMap(kind)) everyKey(kind, here, depth + 1, into);
      else if (isRows(kind)) everyKey(variants(resolve(kind.items)).find(isMap), `${here}.0`, depth + 1, into);
    }
  }
  return into;
}
function find() {
  // of families and family, spares and spare the same letters begin a word
  const words = one("#find").value.toLowerCase().split(/\s+/).map((word) => word.replace(/(?<=...)(ies|y|s)$/, "")).filter(Boolean);
  known = known || everyKey(schema, "", 0, []).filter(([key], index, all_) => !/\.0\./.test(key) || all_.findIndex(([other]) => other === key.replace(/\.0\./, ".")) < 0);
  // each word begins one of the key's own, of its meaning, or of what stands above it: the nearer, the better
  const begins = (text, word) => text.toLowerCase().split(/[^a-z0-9+]+/).some((part) => part.startsWith(word));
  const rank = ([key, means]) => words.reduce((sum, word) => sum + ([key.split(".").pop(), means, key].findIndex((text) => begins(text, word)) + 1 || NaN), 0);
  const hits = words.length ? known.map((pair) => [rank(pair), ...pair]).filter(([far]) => far > 0) : [];
  const deep = (key) => key.split(".").filter((name) => name !== "0").length;
  hits.sort((a, b) => a[0] - b[0] || deep(a[1]) - deep(b[1]) || a[1].length - b[1].length);
  const none = words.length && !hits.length ? [make("li", {}, make("small", { text: "No key, and no key's meaning, has such words." }))] : [];
  one("#found").replaceChildren(...none, ...hits.slice(0, 8).map(([, ...pair]) => pair).map(([key, means]) => make("li", {}, button(key, () => { one("#find").value = ""; find(); act(null, key); }), means && make("small", { text: means }))));
}
