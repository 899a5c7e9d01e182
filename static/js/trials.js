// What may take long, a call by itself or an app that has to load: its form says that it waits, and lets go of it on
// Cancel, which ends the call.
const UNSAID = 300; // milliseconds that need no word: most answers are there by then

export function start() {
  const timers = new WeakMap();
  for (const [type, waits] of [["before:request", true], ["finally:request", false]]) {
    document.addEventListener(`htmx:${type}`, ({ detail: { ctx } }) => {
      const form = ctx.sourceElement;
      if (!form?.matches?.("[data-long]")) return;
      clearTimeout(timers.get(form));
      if (waits) timers.set(form, setTimeout(() => form.classList.add("waits"), UNSAID));
      else form.classList.remove("waits");
    });
  }
  document.addEventListener("click", (event) => {
    const form = event.target.closest?.("[data-cancel]")?.closest("[data-long]");
    if (form) window.htmx.trigger(form, "htmx:abort");
  });
}
