// Unsent edits of a paused event or call survive a reload of the tab, until they are sent or another run is paused.
import { each } from "../shell/behaviours.js";

const STORED = "held";
const FIELDS = "#held .change form :is(input:not([type=hidden]), textarea, select)";

export function start() {
  document.addEventListener("input", ({ target }) => {
    if (!target.matches(FIELDS)) return;
    store(target.form, { ...stored(target.form), [name(target)]: value(target) });
  });
  document.addEventListener("htmx:after:request", ({ target, detail }) => {
    if (!target.matches?.("#held .change form") || detail.ctx.response.status >= 400) return;
    const hold = `${target.elements.hold.value} `;
    store(target, Object.fromEntries(Object.entries(stored(target)).filter(([field]) => !field.startsWith(hold))));
  });
}

export function connect(root) {
  each(root, FIELDS, (field) => {
    const text = stored(field.form)[name(field)];
    if (text === undefined || text === value(field)) return;
    if (field.type === "checkbox") field.checked = text === "true";
    else field.value = text;
    for (let at = field.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
  });
}

const name = (field) => `${field.form.elements.hold.value} ${field.name}`;
const value = (field) => (field.type === "checkbox" ? String(field.checked) : field.value);

// The drafts of the form's run, by field.
function stored(form) {
  const { run, texts } = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
  return run === form.getAttribute("action") ? texts : {};
}

function store(form, texts) {
  sessionStorage.setItem(STORED, JSON.stringify({ run: form.getAttribute("action"), texts }));
}
