// A switch shows at once what was asked of it, so that the next press asks for the opposite, however soon it comes. What
// the server did not do is taken back.
export function start() {
  document.addEventListener("htmx:config:request", ({ target }) => turn(target));
  document.addEventListener("htmx:finally:request", ({ target, detail: { ctx } }) => {
    if (!(ctx.response?.status < 400)) turn(target);
  });
}

function turn(form) {
  const button = form.matches("form") && form.querySelector("[role=switch]");
  if (!button) return;
  const { enabled } = form.elements;
  button.setAttribute("aria-checked", String(enabled.value === "yes"));
  enabled.value = enabled.value === "yes" ? "no" : "yes";
}
