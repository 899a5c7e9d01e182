// The session's title is a field: leaving it or Enter renames, Escape takes the change back.
export function start() {
  document.addEventListener("keydown", (event) => {
    const input = event.target.closest?.("[data-title] input");
    if (!input || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    if (event.key === "Escape") input.value = input.defaultValue;
    input.blur();
  });
  document.addEventListener("change", (event) => {
    const form = event.target.closest?.("[data-title]");
    if (form) form.requestSubmit();
  });
}
