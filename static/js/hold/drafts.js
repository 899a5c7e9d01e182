// Unsent edits of a paused event or call survive a reload of the tab, until they are sent or another run is paused. Continue and
// the other commands that let the run proceed send them first, and the buttons on the card say so. Folded edits aren't sent.
import { connectOnce } from "../shell/behaviors.js";

const STORED = "held";
const FIELDS = "#held .change form :is(input:not([type=hidden]), textarea, select)";
const ORDERS = "#steps, #held .held-orders";
const SETS_FREE = /^(continue|step_|stop_after_event$)/;
const setsFree = (button) => button?.name === "like" || SETS_FREE.test(button?.value);

export function start() {
  document.addEventListener("input", ({ target }) => {
    if (!target.matches(FIELDS)) return;
    target.setCustomValidity("");
    store(target.form, { ...stored(target.form), [name(target)]: value(target) });
    update();
  });
  document.addEventListener("toggle", ({ target }) => {
    if (target.matches("#held .change")) noteFold(target);
    if (target.closest("#held")) update();
  }, { capture: true });
  document.addEventListener("submit", sendFirst, { capture: true });
  document.addEventListener("htmx:after:request", ({ target, detail }) => {
    if (!target.matches?.("#held :is(.change form, .refusal)") || detail.ctx.response.status >= 400) return;
    const hold = `${target.elements.hold.value} `;
    store(target, Object.fromEntries(Object.entries(stored(target)).filter(([field]) => !field.startsWith(hold))));
    fold(target.closest(".held"));
    update();
  });
}

export function connect(root) {
  connectOnce(root, FIELDS, (field) => {
    const text = stored(field.form)[name(field)];
    if (text === undefined || text === value(field)) return;
    if (field.type === "checkbox") field.checked = text === "true";
    else field.value = text;
    if (stored(field.form)[foldName(field.form)]) return;
    for (let at = field.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  });
}

// Folds the form of an applied edit, which would hide what the card says above the buttons.
function fold(card) {
  const open = card?.querySelector(".change[open]");
  if (!open) return;
  if (open.contains(document.activeElement)) open.querySelector("summary").focus();
  open.open = false;
}

// Remembers which drafts are folded, so that they stay folded after a reload.
function noteFold(details) {
  for (const form of details.querySelectorAll("form[data-along]")) {
    const texts = stored(form), { [foldName(form)]: _, ...others } = texts;
    if (Object.keys(others).length) store(form, details.open ? others : { ...others, [foldName(form)]: "yes" });
  }
}

export function update() {
  for (const button of document.querySelectorAll("#held .held-orders button")) {
    const [form] = setsFree(button) ? unsent(button.form) : [];
    button.querySelector(".along").textContent = form ? ` with ${form.dataset.along}` : "";
  }
}

function sendFirst(event) {
  const { target, submitter } = event;
  if (!target.matches(ORDERS) || !setsFree(submitter)) return;
  const [form, other] = unsent(target);
  if (!form) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (other) {
    const field = other.querySelector(FIELDS);
    field.setCustomValidity("Two edits are open. Apply or close one of them first.");
    field.reportValidity();
    return;
  }
  const addOrder = ({ detail: { ctx } }) => {
    if (ctx.sourceElement !== form) return;
    document.removeEventListener("htmx:config:request", addOrder);
    ctx.request.body.set("then", submitter.name === "like" ? "run_to" : submitter.value);
    if (submitter.name === "like") ctx.request.body.set("like", submitter.value);
    if (target.elements.hold) ctx.request.body.set("alone", "yes");
  };
  document.addEventListener("htmx:config:request", addOrder);
  form.requestSubmit(form.querySelector("[data-applies]"));
}

// The forms with unsent edits that the command would leave behind.
function unsent(orders) {
  const forms = [...(orders.closest(".held") ?? document).querySelectorAll("#held .change form[data-along]")];
  return forms.filter((form) => !form.closest("details:not([open])") && [...form.elements].some(isUnsent));
}

function isUnsent(field) {
  if (!field.matches(FIELDS)) return false;
  const draft = stored(field.form)[name(field)];
  return draft !== undefined && (field.matches("[aria-invalid]") || draft !== original(field));
}

const foldName = (form) => `${form.elements.hold.value} is folded`;
const name = (field) => `${field.form.elements.hold.value} ${field.id || field.name}`;
const value = (field) => (field.type === "checkbox" ? String(field.checked) : field.value);

function original(field) {
  if (field.type === "checkbox") return String(field.defaultChecked);
  if (field.matches("select")) return ([...field.options].find((option) => option.defaultSelected) ?? field.options[0]).value;
  return field.defaultValue;
}

// The drafts of the form's run, by field.
function stored(form) {
  const { run, texts } = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
  return run === form.getAttribute("action") ? texts : {};
}

function store(form, texts) {
  sessionStorage.setItem(STORED, JSON.stringify({ run: form.getAttribute("action"), texts }));
}
