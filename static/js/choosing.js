// The choice of an event takes a moment to arrive. What starts at the selected event waits for it, in its turn.
const underway = new Set();
const waiting = [];
let timer = 0;

export function start() {
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (ctx.target?.id === "inspector") underway.add(ctx);
  });
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    if (underway.delete(ctx)) goOn();
  });
}

// Makes the choice when keys have rested for so many milliseconds.
export function soon(choose, rest) {
  clearTimeout(timer);
  timer = setTimeout(() => { timer = 0; choose(); goOn(); }, rest);
}

export function afterwards(act) {
  waiting.push(act);
  goOn();
}

function goOn() {
  while (waiting.length && !timer && !underway.size) waiting.shift()();
}
