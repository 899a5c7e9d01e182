// A call by itself may take minutes: its form says that it waits, and lets go of it on Cancel, which ends the call.
export function start() {
  for (const [type, waits] of [["before:request", true], ["finally:request", false]]) {
    document.addEventListener(`htmx:${type}`, ({ detail: { ctx } }) => {
      const form = ctx.sourceElement;
      if (form?.matches?.("[data-long]")) form.classList.toggle("waits", waits);
    });
  }
  document.addEventListener("click", (event) => {
    const form = event.target.closest?.("[data-cancel]")?.closest("[data-long]");
    if (form) window.htmx.trigger(form, "htmx:abort");
  });
}
