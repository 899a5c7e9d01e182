// Orders the inspector's requests. A selection takes a moment to arrive: actions on the selected event wait for it, and a
// selection by key waits for requests that are still underway, because it builds on their responses.
const underway = new Set();
const waiting = [];
const refreshes = new WeakMap();
let selection = null;
let timer = 0;

export function start() {
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (ctx.target?.id === "inspector") underway.add(ctx);
  });
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (underway.delete(ctx)) proceed();
  });
  document.addEventListener("click", wait, true);
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    const fields = ctx.sourceElement.matches("[id$='-ask'], [id$='-poll']") && ctx.sourceElement.getAttribute("hx-include");
    if (fields) refreshes.set(ctx, { fields, key: keyOf(fields) });
  });
  // A panel that refreshes itself sends what it shows. If that changes before the response arrives, by a click on another event,
  // the response is outdated.
  document.addEventListener("htmx:before:swap", (event) => {
    const refresh = refreshes.get(event.detail.ctx);
    if (refresh && refresh.key !== keyOf(refresh.fields)) event.preventDefault();
  });
}

// The link of a tab or view belongs to the event that was selected when it was rendered: wait for the new selection's link.
function wait(event) {
  const link = event.target.closest?.("#inspector [data-tab], #views a");
  const elsewhere = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || elsewhere || !(selection || underway.size)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  afterwards(() => document.getElementById(link.id)?.click());
}

// Calls `choose`, which selects an event, once no key has been pressed for `rest` milliseconds.
export function soon(choose, rest) {
  clearTimeout(timer);
  selection = choose;
  timer = setTimeout(() => { timer = 0; proceed(); }, rest);
}

export function afterwards(act) {
  waiting.push(act);
  proceed();
}

function proceed() {
  if (timer) return;
  if (selection && ![...underway].some(({ sourceElement }) => !sourceElement?.closest("#rows"))) select();
  while (waiting.length && !selection && !underway.size) waiting.shift()();
}

function select() {
  const pending = selection;
  selection = null;
  pending();
}

function keyOf(fields) {
  const element = document.querySelector(fields);
  return element && [...(element.elements ?? [element])].map((field) => `${field.name}=${field.value}`).join("&");
}
