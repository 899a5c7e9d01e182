// What is typed over something that is held outlasts a reload of the tab, until it is taken or another run is held.
import { each } from "./connected.js";

const KEPT = "held";
const FIELDS = "#held .change form :is(input:not([type=hidden]), textarea, select)";

export function start() {
  document.addEventListener("input", ({ target }) => {
    if (!target.matches(FIELDS)) return;
    keep(target.form, { ...kept(target.form), [name(target)]: value(target) });
  });
  document.addEventListener("htmx:after:request", ({ target, detail }) => {
    if (!target.matches?.("#held .change form") || detail.ctx.response.status >= 400) return;
    const hold = `${target.elements.hold.value} `;
    keep(target, Object.fromEntries(Object.entries(kept(target)).filter(([field]) => !field.startsWith(hold))));
  });
}

export function connect(root) {
  each(root, FIELDS, (field) => {
    const text = kept(field.form)[name(field)];
    if (text === undefined || text === value(field)) return;
    if (field.type === "checkbox") field.checked = text === "true";
    else field.value = text;
    for (let at = field.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  });
}

const name = (field) => `${field.form.elements.hold.value} ${field.name}`;
const value = (field) => (field.type === "checkbox" ? String(field.checked) : field.value);

// By field, those of the form's run.
function kept(form) {
  const { run, texts } = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
  return run === form.getAttribute("action") ? texts : {};
}

function keep(form, texts) {
  sessionStorage.setItem(KEPT, JSON.stringify({ run: form.getAttribute("action"), texts }));
}
