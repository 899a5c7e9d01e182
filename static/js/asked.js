// What asks for itself anew says what of it the page shows. Where that has changed before the answer comes, by a click
// on another event, the answer is about something that is not shown any more.
const asked = new WeakMap();

export function start() {
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    const fields = ctx.sourceElement.matches("[id$='-ask']") && ctx.sourceElement.getAttribute("hx-include");
    if (fields) asked.set(ctx, { fields, shown: shown(fields) });
  });
  document.addEventListener("htmx:before:swap", (event) => {
    const ask = asked.get(event.detail.ctx);
    if (ask && ask.shown !== shown(ask.fields)) event.preventDefault();
  });
}

function shown(fields) {
  const element = document.querySelector(fields);
  return element && [...(element.elements ?? [element])].map((field) => `${field.name}=${field.value}`).join("&");
}
