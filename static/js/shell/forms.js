// What forms do beyond sending: ask for confirmation, ignore double clicks, show switches at once, say that they wait.
import { each } from "./behaviours.js";
import { composing } from "./keyboard.js";

const PATIENCE = 300; // milliseconds without a word: most answers arrive sooner

// A session that is renamed, or gets its first title, renames the document. News changes the field in place.
export function connect(root) {
  each(root, "[data-title] input", (field) => {
    const name = () => { document.title = `${field.defaultValue || field.placeholder} · devui`; };
    new MutationObserver(name).observe(field, { attributes: true, attributeFilter: ["value", "placeholder"] });
  });
}

export function start() {
  confirmation();
  doubleClicks();
  switches();
  fields();
  corrections();
  quickSubmit();
  waiting();
}

// Forms with `data-confirm` ask before they do something that cannot be undone.
function confirmation() {
  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });
}

// A double click is one order. Orders to a run carry a key by which the server recognizes a repeated one; other forms would
// act twice, or be refused the second time. The second click isn't meant for another button that has moved to that place,
// either. A switch is not an order: clicking twice turns it back.
function doubleClicks() {
  let first = null;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const order = button?.form && `${button.form.getAttribute("action")} ${button.value}`;
    if (event.detail < 2) first = order;
    if (event.detail < 2 || event.target.closest("[type=button], [role=switch]")) return;
    if (button?.form?.method !== "post") return;
    if (order !== first || !button.form.elements.namedItem("key")) event.preventDefault();
  }, { capture: true });
}

// A switch shows the new state at once, so that the next press asks for the opposite, however soon it comes. If the server
// refuses, it turns back.
function switches() {
  document.addEventListener("htmx:config:request", ({ target }) => turn(target));
  document.addEventListener("htmx:finally:request", ({ target, detail: { ctx } }) => {
    if (!(ctx.response?.status < 400)) turn(target);
  });
}

function turn(form) {
  const button = form.matches?.("form") && form.querySelector("[role=switch]");
  if (!button) return;
  const { enabled } = form.elements;
  button.setAttribute("aria-checked", String(enabled.value === "yes"));
  enabled.value = enabled.value === "yes" ? "no" : "yes";
}

// The title is an inline field: leaving it or pressing Enter renames the session, Escape restores the old title.
function fields() {
  document.addEventListener("keydown", (event) => {
    const input = event.target.closest?.("[data-title] input");
    if (!input || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    if (event.key === "Escape") input.value = input.defaultValue;
    input.blur();
  });
  document.addEventListener("change", (event) => {
    const form = event.target.closest?.("[data-title]");
    if (form) form.requestSubmit();
  });
}

// What was wrong with a field goes as soon as the field changes. What the server marked as invalid stays until it is sent again.
function corrections() {
  document.addEventListener("input", ({ target }) => {
    if (target.matches("[aria-invalid]")) return;
    for (const id of (target.getAttribute("aria-describedby") ?? "").split(" ")) {
      const error = document.getElementById(id);
      if (error?.matches("p.field-error")) error.textContent = "";
    }
  });
}

// Ctrl+Enter (Cmd+Enter on a Mac) in a field of several lines presses the button after it.
function quickSubmit() {
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("[data-quick-submit] textarea");
    if (!field || event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || composing(event)) return;
    event.preventDefault();
    const follows = (button) => field.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING;
    [...field.form.querySelectorAll("button")].find(follows)?.click();
  });
}

// A call of a model or tool, or an app that has to load, may take long: the form says that it waits, and its Cancel button
// aborts the request, which ends the call.
function waiting() {
  const timers = new WeakMap();
  for (const [type, waits] of [["before:request", true], ["finally:request", false]]) {
    document.addEventListener(`htmx:${type}`, ({ detail: { ctx } }) => {
      const form = ctx.sourceElement;
      if (!form?.matches?.("[data-long]")) return;
      clearTimeout(timers.get(form));
      if (waits) timers.set(form, setTimeout(() => form.classList.add("waits"), PATIENCE));
      else form.classList.remove("waits");
    });
  }
  document.addEventListener("click", (event) => {
    const form = event.target.closest?.("[data-cancel]")?.closest("[data-long]");
    if (form) window.htmx.trigger(form, "htmx:abort");
  });
}
