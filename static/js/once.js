// A double click is one order. Orders to a run carry a key by which the server knows a repeated one; what else a form
// asks for would be done twice, or refused the second time. Nor is the second click meant for another button that has
// come to that place since the first. A switch is not an order: twice is there and back.
export function start() {
  let first = null;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const order = button?.form && `${button.form.getAttribute("action")} ${button.value}`;
    if (event.detail < 2) first = order;
    if (event.detail < 2 || event.target.closest("[type=button], [role=switch]")) return;
    if (button?.form?.method !== "post") return;
    if (order !== first || !button.form.elements.namedItem("key")) event.preventDefault();
  }, { capture: true });
}
