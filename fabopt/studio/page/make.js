// Elements and words. Text goes in as text, never as markup.

export const one = (selector, within = document) => within.querySelector(selector);
export const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

const SVG = "http://www.w3.org/2000/svg";

function fill(made, facts, inner) {
  for (const [name, value] of Object.entries(facts || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "text") made.textContent = value;
    else if (name in made && !(made instanceof SVGElement) && typeof value !== "string") made[name] = value;
    else made.setAttribute(name === "look" ? "class" : name, value === true ? "" : String(value));
  }
  made.append(...inner.filter((part) => part !== null && part !== undefined && part !== false));
  return made;
}

/** An element with attributes and listeners (`onclick`), and what is in it: elements, or texts. */
export const make = (name, facts, ...inner) => fill(document.createElement(name), facts, inner);
/** The same of a drawing. */
export const draw = (name, facts, ...inner) => fill(document.createElementNS(SVG, name), facts, inner);
/** A button that does something. */
export const button = (text, does, facts) => make("button", { type: "button", text, onclick: does, ...facts });

/** A table that scrolls within its place; cells are texts or elements. */
export function table(caption, heads, rows, { numbers = [], foot = null, look = "" } = {}) {
  const side = (index) => (numbers[index] ? "number" : "");
  const line = (row) => make("tr", {}, ...row.map((cell, index) =>
    make(index ? "td" : "th", { scope: index ? null : "row", look: side(index) }, cell)));
  return make("div", { look: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    make("table", { look }, make("caption", { look: "hidden", text: caption }),
      make("thead", {}, make("tr", {}, ...heads.map((head, index) => make("th", { scope: "col", look: side(index), text: head })))),
      make("tbody", {}, ...rows.map(line)), foot && make("tfoot", {}, line(foot))));
}

const DOLLARS = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3, notation: "compact" });
export const dollars = (usd) => DOLLARS.format(usd);
export const short = (value) => SHORT.format(value);

// What the endings of keys' names say, the longer one first.
const UNITS = [
  ["gbps_per_gpu", "Gb/s a GPU"], ["gbps_per_server", "Gb/s a server"], ["usd_per_kwh", "$ a kWh"], ["usd_per_moved_cable", "$ a cable"],
  ["minutes_per_moved_cable", "min a cable"], ["budget_usd", "$"], ["_usd", "$"], ["usd", "$"], ["_gbps", "Gb/s"], ["gbps", "Gb/s"], ["power_w", "W"], ["_w", "W"],
  ["_m", "m"], ["_s", "s"], ["_gb", "GB"], ["_us", "µs"], ["_bytes", "bytes"], ["rack_units", "U"], ["_units", "U"], ["years", "years"], ["month", "month"],
  ["_months", "months"], ["max_oversubscription", ": 1"],
];
export const unitOf = (key) => (UNITS.find(([end]) => key.endsWith(end)) || ["", ""])[1];
/** The words of a key: `min_gbps_per_gpu` is "min gbps per gpu". */
export const wordsOf = (key) => key.replace(/_(usd|w|m|s|gb|us)$/, "").replaceAll("_", " ");

/** A fault in words: what is wrong, what is allowed, what to do; of many words only the one that may be meant. */
export const faultWords = ({ words, allowed, todo }) => [words, allowed && !(allowed.length > 120 && /^did you mean/.test(todo || "")) && `allowed: ${allowed}`, todo].filter(Boolean).join("; ");

/** `fabrics[0].name` and `fabrics.0.name` are the same key. */
export const plain = (key) => String(key ?? "").replace(/\[(\d+)\]/g, ".$1").replace(/^\./, "");
export const at = (tree, key) => key.split(".").reduce((part, name) => (part === null || part === undefined ? undefined : part[name]), tree);

/** Calls the last of many calls, `ms` after it. */
export function later(ms, does) {
  let timer = 0;
  return (...facts) => { clearTimeout(timer); timer = setTimeout(() => does(...facts), ms); };
}

/** A drawing of the server as an element, without anything that could act. */
export function drawing(text) {
  // a drawing made to stand within a page does not say what it is
  const whole = text.replace(/<svg(?=[\s>])(?![^>]*\sxmlns=)/, `<svg xmlns="${SVG}"`);
  const read = new DOMParser().parseFromString(whole, "image/svg+xml");
  const root = read.documentElement;
  if (root.nodeName !== "svg" || root.querySelector("parsererror")) return null;
  for (const part of [root, ...all("*", root)]) {
    if (part !== root && /^(script|style|foreignobject|iframe|object|embed|a|image|use|set|animate.*)$/i.test(part.localName)) { part.remove(); continue; }
    for (const fact of Array.from(part.attributes)) {
      if (/^(on|style$|href$|xlink)/i.test(fact.name) || /javascript:|url\(\s*['"]?(?!#)/i.test(fact.value)) part.removeAttribute(fact.name);
    }
  }
  return document.importNode(root, true);
}

/** Lets arrow keys go between marks of which Tab reaches one. */
export function rove(marks, act) {
  marks.forEach((mark, index) => {
    mark.setAttribute("tabindex", index ? "-1" : "0");
    mark.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (step) {
        event.preventDefault();
        const next = marks[index + step];
        if (!next) return;
        mark.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      } else if (act && (event.key === "Enter" || event.key === " ")) {
        event.preventDefault();
        act(mark, event);
      }
    });
  });
}
