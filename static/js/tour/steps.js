// The steps of the tour: what each says and points at (`at`), what its button does (`act`, `label`), and how to tell from the page that
// it is done (`isDone`), the previous one no longer is (`isUndone`), or it can no longer be done (`lost`, with the reason). When only
// one of the page's own buttons is left to press (`next`), the card's button takes its name and presses it.
const MESSAGE = "Split the bill of table 7";
const get = (selector) => document.querySelector(selector);
const breakpoint = () => [...document.querySelectorAll("#breakpoints > li")].some((item) =>
  /\bbill\b[^]*new\s*<\s*0/.test(item.textContent) && !item.querySelector("form.off"));
const hold = () => get("#held .held");
const hasEnded = () => get("#run .run:not(.running, .held, .stopping)[data-run]:not([data-run=''])");
const isFilledIn = (form) => form.elements.on.value === "state" && form.elements.name.value === "bill" && form.elements.condition.value === "new < 0";
const field = () => [...document.querySelectorAll("#held .change .field")].find((each) => /\bbill\b/.test(each.querySelector("label")?.textContent ?? ""))?.querySelector("input, textarea");
// Writes as a person would, so that what watches the field sees it, too.
function write(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
const CONTINUED = "The run went on before you changed the value. Start over in a new session; the breakpoint is still there.";
let first = ""; // the id of the hold that the tour is about

export const STEPS = [
  {
    title: "Pause where it goes wrong",
    text: "This agent splits a bill and gets a negative share. On the Breaks tab, add a breakpoint: break on “state key written”, name bill, condition new < 0.",
    at: () => get("#break-form") ?? get("#tab-breaks"),
    isDone: breakpoint,
    next: () => [get("#break-form form")].filter((form) => form && isFilledIn(form))[0]?.querySelector("button.primary"),
    act: () => {
      const form = get("#break-form form");
      if (!form) return get("#tab-breaks").click();
      form.elements.on.value = "state";
      form.elements.name.value = "bill";
      form.elements.condition.value = "new < 0";
      form.querySelector("button.primary").focus();
    },
    label: () => (get("#break-form") ? "Fill it in" : "Open Breaks"),
  },
  {
    title: "Run it",
    text: `Send “${MESSAGE}”. The run pauses before anything negative is committed.`,
    at: () => get("[data-composer]"),
    isReady: () => !get("#run .running"),
    isDone: hold,
    next: () => get("#composer-text").value === MESSAGE && get("#composer-state button.primary"),
    lost: () => hasEnded() && "The run ended without a pause. Check in Breaks that the breakpoint is switched on and says: bill, new < 0. Then start over.",
    act: () => {
      write(get("#composer-text"), MESSAGE);
      get("#composer-text").focus();
    },
    label: () => "Write it",
  },
  {
    title: "Look, then change it",
    text: "The run is paused: bill is about to go from 84 to −756. Nothing is stored yet. Open Edit, enter 75.6 for bill, and choose “Use these values”.",
    enter: () => { first = hold().id; },
    at: hold,
    isReady: () => get("#held .change"),
    isDone: () => get("#held .edit-notice") || (!document.getElementById(first) && get("#rows .flag.edited")),
    lost: () => !document.getElementById(first) && hasEnded() && CONTINUED,
    next: () => get("#held .change")?.open && field()?.value === "75.6" && get("#held .held-form button.primary"),
    act: () => {
      get("#held .change").open = true;
      if (!field()) return;
      write(field(), "75.6");
      get("#held .held-form button.primary").focus();
    },
    label: () => "Enter 75.6",
  },
  {
    title: "Continue",
    text: "The event will be committed with your value. Choose Continue, or press c: everything after it works with 75.6.",
    at: () => get("#do-continue"),
    isUndone: () => document.getElementById(first)?.querySelector(".change") && !get("#held .edit-notice"),
    isDone: () => !hold() && get("#run .done"),
    lost: () => !hold() && hasEnded() && "The run ended early. Start over in a new session; the breakpoint is still there.",
    isReady: () => get("#do-continue"),
    next: () => get("#do-continue"),
    label: () => "Continue",
  },
  {
    title: "Each of you pays 18.9",
    text: "You found the event that broke the bill, and once you corrected it, the rest of the run came out right. The breakpoint stays in Breaks; remove it there. Press ? for all shortcuts.",
    at: () => get("#chat"),
    isDone: () => false,
  },
];
