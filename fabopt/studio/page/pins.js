// Designs kept with a name, and all that differs between two.

import { button, dollars, make, one, table } from "./make.js";
import { get, post, put, remove } from "./server.js";
import { current } from "./answer.js";

let does = {};
const place = () => one("#compared");

export function setUp(acts) {
  does = acts;
  one("#pin-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = one("#pin-name").value.trim();
    if (!name || !current()) return;
    try { await put(`/api/pins/${encodeURIComponent(name)}`, { answer: current().answer, text: does.text() }); one("#pin-name").value = ""; await showPins(); } catch (error) { place().replaceChildren(make("p", { look: "fault", text: error.message })); }
  });
}
export const ready = (is) => { one("#pin-go").disabled = !is; };

export async function showPins() {
  const pins = await get("/api/pins");
  one("#pin-list").replaceChildren(...pins.map((pin) => make("li", {}, make("strong", { text: pin.name }), " ", Number.isFinite(pin.capex_usd) && dollars(pin.capex_usd), make("br"), pin.summary && make("small", { text: pin.summary }),
    make("div", { look: "tools" }, button("Compare", () => compare(`pin:${pin.name}`, pin.name), { look: "small", "aria-label": `Compare ${pin.name}` }), pin.text && button("Open", () => does.open(pin.text), { look: "small", "aria-label": `Open ${pin.name}` }),
      button("Remove", async () => { await remove(`/api/pins/${encodeURIComponent(pin.name)}`); await showPins(); }, { look: "small", "aria-label": `Remove ${pin.name}` })))));
}

/** What differs between the design at hand and another: an answer, or a pin. */
export async function compare(other, name) {
  if (!current()) return;
  place().replaceChildren(make("p", { text: "Comparing..." }));
  try {
    const said = await post("/api/compare", { one: current().answer, other });
    const rows = said.rows.filter((row) => row[3]).map((row) => row.slice(0, 3).map((cell) => String(cell ?? "")));
    place().replaceChildren(make("h3", { text: `This design against ${name}` }), said.verdict && make("p", { text: String(said.verdict) }),
      rows.length ? table("What differs", ["Figure", "this design", String(name)], rows) : make("p", { text: "Nothing differs." }),
      (said.waterfall || []).length ? table("What the difference costs", ["Part", "Money"], said.waterfall.map((row) => row.map(String)), { numbers: [false, true] }) : "");
    place().scrollIntoView({ block: "nearest" });
  } catch (error) { place().replaceChildren(make("p", { look: "fault", text: error.message })); }
}
