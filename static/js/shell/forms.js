// What forms do besides sending: ask for confirmation, ignore double clicks, update switches at once, show that they wait.
import { connectOnce } from "./behaviors.js";
import { composing } from "./keyboard.js";

const PATIENCE = 300; // milliseconds before a form shows that it waits; most responses arrive sooner

// Updates the document's title when its session is renamed or gets its first title; htmx changes the field in place.
export function connect(root) {
  connectOnce(root, "[data-title] input", (field) => {
    const name = () => { document.title = [field.defaultValue || field.placeholder, document.getElementById("main").dataset.origin, "devui"].filter(Boolean).join(" · "); };
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

// Forms with `data-confirm` ask before they do something that cannot be undone. They ask before htmx sees the event, which
// sends a boosted form whatever later listeners do.
function confirmation() {
  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (!question || window.confirm(question)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
}

// A double click counts as one. Commands to a run carry a key by which the server recognizes a repetition; other forms would
// act twice, or be refused the second time. Nor is the second click meant for a button that has moved under the pointer.
// Switches are exempt: clicking twice turns them back.
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

// A switch shows its new state at once, so that the next press asks for the opposite, however soon it comes. If the server
// refuses, it flips back.
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

// Clears a field's error as soon as the field changes. One that the server marked as invalid keeps it until it is sent again.
function corrections() {
  document.addEventListener("input", ({ target }) => {
    if (target.matches("[aria-invalid]")) return;
    for (const id of (target.getAttribute("aria-describedby") ?? "").split(" ")) {
      const error = document.getElementById(id);
      if (error?.matches("p.field-error")) error.textContent = "";
    }
  });
}

// Ctrl+Enter (Cmd+Enter on a Mac) in a multi-line field presses the button after it.
function quickSubmit() {
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("[data-quick-submit] textarea");
    if (!field || event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || composing(event)) return;
    event.preventDefault();
    const follows = (button) => field.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING;
    [...field.form.querySelectorAll("button")].find(follows)?.click();
  });
}

// Calling a model or tool, or loading an app, may take long: the form shows that it waits, and its Cancel button aborts the
// request, which ends the call.
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
