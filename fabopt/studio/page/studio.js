// One tab of the studio: the text of a case is what holds; form, sliders and front edit it, and each change is solved.

import * as answers from "./answer.js";
import * as fronts from "./front.js";
import { goTo, setUp as setUpForm, showForm } from "./form.js";
import { all, at, button, dollars, faultWords, later, make, one, plain } from "./make.js";
import * as pins from "./pins.js";
import { desk, get, listen, post, put, start } from "./server.js";
import * as sliders from "./sliders.js";

// `run`: the run that may speak, that of the text as it is; null while there is none, or it has no number yet.
const state = { text: "", path: null, values: null, faults: [], off: [], past: [], ahead: [], saved: "", last: "", at: 0, start: null, run: null, going: false, stopped: false, doing: {}, best: null, answer: null, end: null, trouble: "", prices: {} };
const KEPT = "fabopt studio";
const MOST_PROVEN = 20;
const SAME_CHANGE_MS = 1500;

// -- the text and its changes ----------------------------------------------------------------------------------------

function setText(text, { key = "", keeps = true } = {}) {
  if (text === state.text && state.values) return;
  const same = key && key === state.last && Date.now() - state.at < SAME_CHANGE_MS;
  if (keeps && state.text && !same) { state.past.push(state.text); state.ahead = []; }
  state.last = key;
  state.at = Date.now();
  state.text = text;
  if (one("#text").value !== text) one("#text").value = text;
  sessionStorage.setItem(KEPT, JSON.stringify({ text, path: state.path, saved: state.saved }));
  heads();
  read();
}

/** What is known of the text, all from the state: whoever came last, it says the same. */
function say() {
  const { faults, best, answer, end, going, doing, stopped } = state;
  const money = [Number.isFinite(doing.best) && `best so far ${dollars(doing.best)}`, Number.isFinite(doing.bound) && doing.bound > 0 && `none below ${dollars(doing.bound)}`].filter(Boolean);
  answers.tell(...(state.trouble ? [state.trouble, "bad"]
    : faults.length ? [answers.current() ? "The case has a fault; the answer is that of the case before." : "The case has a fault.", "bad"]
      : answer ? ((words, look) => [stopped && !going ? `${words}; ${answer.status === "optimal" ? "comparing" : "the search"} was stopped` : words, look])(...answers.verdict(answer))
        : end ? [`${!end.words || end.words === "stopped" ? "Stopped before there was an answer" : end.words}${answers.current() ? "; below is the answer before" : ""}`, "warn"]
          : !state.text ? ["Open a case, or make a new one."]
            : [doing.doing ? [`Looking: ${doing.doing}`, ...money].join("; ") : "Looking for the best design..."]));
  one("#result").classList.toggle("old", !(answer || best) || faults.length > 0);
  one("#cancel").hidden = one("#progress").hidden = !going;
  one("#again").hidden = going || !state.text || faults.length > 0 || !(stopped || state.trouble || end?.words || (answer && !/optimal|infeasible/.test(answer.status)));
  one("#doing").hidden = !(going && answer);
  one("#doing").textContent = `Comparing alternatives${doing.share > 0 ? `, ${Math.floor(100 * doing.share)} %` : ""}`;
  one("#progress").setAttribute("aria-label", answer ? "Comparing alternatives" : "Progress of the solve");
  if (going && doing.share > 0) one("#progress").value = doing.share; else one("#progress").removeAttribute("value");
}

function heads() {
  one("#undo").disabled = !state.past.length;
  one("#redo").disabled = !state.ahead.length;
  one("#save").disabled = !state.text;
  one("#path").textContent = state.path || (state.text ? "new case" : "no case yet");
  one("#unsaved").hidden = !state.text || state.saved === state.text;
  document.title = state.path ? `${state.path} - fabopt studio` : "fabopt studio";
}

function undo(from, to) {
  if (!from.length) return;
  to.push(state.text);
  setText(from.pop(), { keeps: false });
}

// Edits go one after another, each of the text that the one before left; of a slider only the last waits.
let edits = Promise.resolve();
const waiting = new Map();
function edit(pairs, key = "") {
  const slides = key !== "";
  if (slides && waiting.has(key)) { waiting.set(key, pairs); return edits; }
  if (slides) waiting.set(key, pairs);
  edits = edits.then(async () => {
    const wanted = slides ? waiting.get(key) : pairs;
    waiting.delete(key);
    let { text } = state;
    try {
      for (const [name, value] of wanted) text = (await post("/api/edit", { text, key: plain(name), value })).text;
      setText(text, { key });
    } catch (error) { trouble(error); }
  });
  return edits;
}

function trouble(error) { state.trouble = error.message; say(); }

// Answers that were proven, the newest last: undo shows one at once, while the server looks whether it still holds.
const proven = new Map();
const asked = () => JSON.stringify([state.text, state.path, state.prices]);
function keep(said) {
  if (!/optimal|infeasible/.test(said.status)) return;
  proven.delete(asked());
  proven.set(asked(), said);
  if (proven.size > MOST_PROVEN) proven.delete(proven.keys().next().value);
}

let reading = 0;
async function read() {
  const mine = (reading += 1);
  // whatever is under way is of another text
  Object.assign(state, { run: null, going: Boolean(state.text), stopped: false, doing: {}, best: null, answer: null, end: null, trouble: "" });
  early.length = 0;
  if (proven.has(asked())) { state.answer = proven.get(asked()); answers.showAnswer(state.answer); }
  say();
  try {
    const said = await post("/api/read", { text: state.text, path: state.path });
    if (mine !== reading) return;
    Object.assign(state, { values: said.values || state.values, off: said.rules_off || [] });
    fault(said.faults);
    slid();
    fronts.chart();
    fronts.ready(!state.faults.length);
    if (state.faults.length) { await post("/api/cancel", { desk }); return; }
    const { run } = await post("/api/solve", { desk, text: state.text, path: state.path, prices: state.prices });
    if (mine !== reading) return;
    state.run = run;
    if (state.answer) state.answer.run = run;
    for (const [kind, said_] of early.splice(0)) hear(kind, said_);
  } catch (error) { if (mine === reading) { state.going = false; trouble(error); } }
}

/** Show what can be slid, and swept over. */
function slid() {
  const facts = answers.current() && answers.current().facts;
  sliders.showSliders(state.values, facts);
  if (state.values) fronts.offers(sliders.wanted(state.values, facts));
}

/** Take faults of the text: each at its key. */
function fault(faults) {
  state.faults = faults;
  state.going = state.going && !faults.length;
  showFaults();
  showForm(state.values, faults);
  say();
}

function showFaults() {
  one("#faults").replaceChildren(...state.faults.map((fault) => make("li", {}, fault.line || fault.words || "", fault.key ? " " : "", fault.key ? button("Show", () => showKey(fault), { look: "small", "aria-label": `Show ${fault.key}` }) : "")));
}

function showKey(fault) {
  if (one("#tab-yaml").getAttribute("aria-selected") !== "true" && state.values) { goTo(fault.key, state.values); return; }
  const name = plain(fault.key).split(".").filter((word) => !/^\d+$/.test(word)).pop();
  const place = state.text.search(new RegExp(`(^|[\\s{,-])${name.replace(/[^\w-]/g, ".")}\\s*:`, "m"));
  one("#text").focus();
  if (place >= 0) one("#text").setSelectionRange(place + 1, place + 1 + name.length);
}

// -- solving ---------------------------------------------------------------------------------------------------------

// What comes before the run has its number waits for it.
const early = [];
function hear(kind, said) {
  if (state.run === null) { if (state.going) early.push([kind, said]); return; }
  if (said.run !== state.run) return;
  happens[kind](said);
  say();
}

const happens = {
  progress(said) { state.doing = said; },
  best(said) { if (!state.answer) { state.best = said; answers.showAnswer(said); } },
  answer(said) {
    // of a search that was stopped before it met a design there is nothing to show in place of the answer before
    if (said.status === "unknown" && answers.current()) return;
    if (!state.answer) state.doing = {};
    state.answer = said;
    keep(said);
    answers.showAnswer(said);
    slid();
    pins.ready(said.facts && Number.isFinite(said.facts.capex_usd));
  },
  ended(said) {
    Object.assign(state, { going: false, end: said });
    if (said.faults && said.faults.length) fault(said.faults);
    else if (state.answer) answers.ready();
  },
};
const listened = {
  ...Object.fromEntries(Object.keys(happens).map((kind) => [kind, (said) => hear(kind, said)])),
  point: fronts.came,
  "front-points": fronts.whole,
  "front-progress": fronts.doing,
  "front-ended": fronts.ended,
};

// -- opening, saving, new cases --------------------------------------------------------------------------------------

function dialog(title, ...inner) {
  one("#dialog-title").textContent = title;
  one("#dialog-body").replaceChildren(...inner);
  if (!one("#dialog").open) one("#dialog").showModal();
  // what is asked first has the focus, not the button that closes
  one("#dialog-body").querySelector("input, button")?.focus();
}

function opened(text, path, saved) {
  // a case that was not saved comes back by undo
  const past = state.text && state.saved !== state.text ? [...state.past, state.text] : [];
  Object.assign(state, { path, prices: {}, saved: saved ? text : "", past, ahead: [], values: null });
  one("#dialog").close();
  setText(text, { keeps: false });
}

/** Offer the cases of the folder; at the start unless one was opened in the meantime. */
async function open(isFirst = false) {
  const said = await start();
  if (isFirst && state.text) return;
  const list = make("ul", {}, ...said.cases.map((path) => make("li", {}, button(path, async () => {
    try { opened((await get(`/api/file?path=${encodeURIComponent(path)}`)).text, path, true); } catch (error) { trouble(error); one("#dialog").close(); }
  }))));
  dialog("Open a case", said.cases.length ? list : make("p", { text: `There is no case in ${said.folder} yet: make a new one.` }));
}

function ask() {
  const words = make("p", { look: "fault", role: "alert" });
  const inputs = state.start.questions.map((question, index) => {
    const list = question.choices && question.choices.length ? `list-question-${index}` : null;
    const input = make("input", { id: `question-${index}`, "data-question": question.key, list, placeholder: question.default ?? question.usual ?? "", autocomplete: "off" });
    return make("div", { look: "ask" }, make("label", { for: `question-${index}`, text: question.words.replace(/; \? lists them/, "") }), input, make("p", { look: "fault", id: `question-${index}-fault`, hidden: true }),
      list && make("datalist", { id: list }, ...question.choices.map((choice) => make("option", { value: Array.isArray(choice) ? choice[0] : choice, text: Array.isArray(choice) ? choice[1] : null }))));
  });
  const form = make("form", { onsubmit: async (event) => {
    event.preventDefault();
    const given = {};
    for (const input of form.querySelectorAll("[data-question]")) if (input.value.trim()) given[input.dataset.question] = input.value.trim();
    try { opened((await post("/api/new", { answers: given })).text, null, false); } catch (error) { refused(form, words, error); }
  } }, ...inputs, words, make("button", { text: "Make the case" }));
  dialog("A new case", make("p", { look: "note", text: "What is left empty is taken as written in grey." }), form);
}

/** Say what is wrong with answers: each fault at its field, what is of no field below them. */
function refused(form, words, error) {
  const inputs = all("[data-question]", form);
  const left = inputs.reduce((faults, input) => {
    const own = faults.filter((fault) => fault.key === input.dataset.question);
    const place = one(`#${input.id}-fault`);
    place.textContent = own.map(faultWords).join("; ");
    place.hidden = !own.length;
    input.setAttribute("aria-invalid", String(own.length > 0));
    input.setAttribute("aria-describedby", place.id);
    return faults.filter((fault) => !own.includes(fault));
  }, error.faults || []);
  const wrong = inputs.find((input) => input.getAttribute("aria-invalid") === "true");
  words.textContent = left.length ? left.map(faultWords).join("; ") : wrong ? "" : error.message;
  if (wrong) wrong.focus();
}

async function save() {
  if (!state.text) return;
  const keep = async (path) => {
    const { text } = state;
    await put("/api/file", { path, text });
    Object.assign(state, { path, saved: text });
    sessionStorage.setItem(KEPT, JSON.stringify({ text, path, saved: text }));
    heads();
  };
  if (state.path) { try { await keep(state.path); } catch (error) { trouble(error); } return; }
  const words = make("p", { look: "fault", role: "alert" });
  const input = make("input", { id: "save-name", value: `${at(state.values, "name") || "case"}.yaml`, required: true });
  dialog("Save the case", make("form", { onsubmit: async (event) => { event.preventDefault(); try { await keep(input.value); one("#dialog").close(); } catch (error) { words.textContent = error.message; } } },
    make("div", { look: "ask" }, make("label", { for: "save-name", text: "File, below the folder of the studio" }), input), words, make("button", { text: "Save" })));
}

// -- start -----------------------------------------------------------------------------------------------------------

const acts = { desk, edit, text: () => state.text, path: () => state.path, values: () => state.values, off: () => state.off, budget: () => at(state.values, "limits.budget_usd"),
  slide: (key, value) => edit([[key, value]], key), without, price, prices: () => state.prices, rules: () => state.start.rules, compare: pins.compare, open: (text) => setText(text) };

/** What the case says but for one key, and the prices: of one state of it the ends of a slider are known. */
function without(key) {
  const values = structuredClone(state.values) || {};
  const names = key.split(".");
  const holder = names.length > 1 ? at(values, names.slice(0, -1).join(".")) : values;
  if (holder) delete holder[names.pop()];
  return JSON.stringify([values, state.prices]);
}

/** Change the price of a kind of part by so many percent, or all back to the catalog's; the text stays as it is. */
function price(kind, change) {
  state.prices = kind === null ? {} : { ...state.prices, [kind]: change };
  if (!change) delete state.prices[kind];
  reprice();
}
const reprice = later(150, () => { if (state.text) read(); });

function lost() { one("#lost").hidden = false; one("#lost").textContent = "The server has ended, or cannot be reached. This page waits for it; what you wrote is kept. If it was started again, open the address that it printed."; }
function found() { one("#lost").hidden = true; if (state.text) read(); pins.showPins(); }

async function begin() {
  state.start = await start();
  setUpForm(state.start, (key, value) => (key === null ? goTo(value, state.values) : edit([[key, value]])));
  for (const part of [answers, fronts, sliders, pins]) part.setUp(acts);
  answers.tabs(one("#case [role='tablist']"));
  one("#yaml").hidden = true;
  listen(listened, lost, found);
  pins.showPins().catch(() => {});
  const kept = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  const first = kept || (state.start.opened && { ...state.start.opened, saved: state.start.opened.text });
  if (first && first.text) { state.saved = first.saved; state.path = first.path; setText(first.text, { keeps: false }); } else if (!state.start.cases.length) ask(); else open(true);
  heads();
}

const typed = later(350, () => setText(one("#text").value, { key: "typed" }));
one("#text").addEventListener("input", typed);
one("#undo").addEventListener("click", () => undo(state.past, state.ahead));
one("#redo").addEventListener("click", () => undo(state.ahead, state.past));
one("#open").addEventListener("click", () => open().catch(trouble));
one("#new").addEventListener("click", ask);
one("#save").addEventListener("click", save);
one("#cancel").addEventListener("click", () => {
  state.stopped = true;
  // before the run has a number it is not asked for at all
  if (state.run === null) { reading += 1; Object.assign(state, { going: false, end: { words: "Stopped" } }); say(); }
  post("/api/cancel", { desk }).catch(trouble);
});
one("#again").addEventListener("click", () => { read(); one("#answer").focus(); });
one("#dialog-close").addEventListener("click", () => one("#dialog").close());
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  const does = { s: save, z: () => (event.shiftKey ? undo(state.ahead, state.past) : undo(state.past, state.ahead)), y: () => undo(state.ahead, state.past) }[key];
  if (!does) return;
  event.preventDefault();
  does();
});
begin().catch(trouble);
