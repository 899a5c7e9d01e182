// The choice of an event takes a moment to arrive. What starts at the selected event waits for it, in its turn; and
// what is chosen by keys waits for what else the inspector was asked for, whose answer it builds on.
const underway = new Set();
const waiting = [];
let choice = null;
let timer = 0;

export function start() {
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (ctx.target?.id === "inspector") underway.add(ctx);
  });
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (underway.delete(ctx)) goOn();
  });
  document.addEventListener("click", wait, true);
}

// A tab's link is about the event that was selected when it was made: it waits for the one that comes with the choice.
function wait(event) {
  const link = event.target.closest?.("#inspector [data-tab]");
  const elsewhere = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || elsewhere || !(choice || underway.size)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  afterwards(() => document.getElementById(link.id)?.click());
}

// Makes the choice when keys have rested for so many milliseconds.
export function soon(choose, rest) {
  clearTimeout(timer);
  choice = choose;
  timer = setTimeout(() => { timer = 0; goOn(); }, rest);
}

export function afterwards(act) {
  waiting.push(act);
  goOn();
}

function goOn() {
  if (timer) return;
  if (choice && ![...underway].some(({ sourceElement }) => !sourceElement?.closest("#rows"))) choose();
  while (waiting.length && !choice && !underway.size) waiting.shift()();
}

function choose() {
  const chosen = choice;
  choice = null;
  chosen();
}
