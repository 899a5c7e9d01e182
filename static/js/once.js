// A double click is one order. Orders to a run carry a key by which the server knows a repeated one; what else a form
// asks for would be done twice, or refused the second time. A switch is not an order: twice is there and back.
export function start() {
  document.addEventListener("click", (event) => {
    if (event.detail < 2 || event.target.closest("[type=button], [role=switch]")) return;
    const form = event.target.closest("button")?.form;
    if (form?.method === "post" && !form.elements.namedItem("key")) event.preventDefault();
  }, { capture: true });
}
