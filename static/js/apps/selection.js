// The selected sessions of a list: selects all on the page, offers those of all pages then, counts them, and enables what can be
// done with that many.
const HINT = "Select sessions to tag, export or delete them";
const COMPARE_HINTS = ["select two", "select one more", ""];

export function start() {
  document.addEventListener("change", ({ target }) => {
    const form = document.querySelector("[data-selection]");
    if (!form) return;
    if (target.matches("[data-select-all]")) boxes(form).forEach((box) => { box.checked = target.checked; });
    tell(form);
  });
  // Enter submits a form, but no one who presses it on a checkbox means to add tags.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches?.("[type=checkbox]") && event.target.form?.matches("[data-selection]")) event.preventDefault();
  });
  // The browser's Back restores the boxes after the page has started.
  addEventListener("pageshow", () => connect(document));
}

export function connect(root) {
  const form = root.querySelector?.("[data-selection]");
  if (form) tell(form);
}

const boxes = (form) => [...form.elements].filter(({ name }) => name === "session");

// Offers the sessions of all pages once the whole page is selected, and returns their number if they are selected.
function offerAll(form, isWholePage) {
  const box = form.elements.all;
  if (!box) return null;
  box.closest("label").hidden = !isWholePage;
  box.checked &&= isWholePage;
  return box.checked ? Number(box.dataset.all) : null;
}

function tell(form) {
  const onPage = boxes(form).filter(({ checked }) => checked).length, all = document.querySelector("[data-select-all]");
  const isWholePage = onPage > 0 && onPage === boxes(form).length;
  const selected = offerAll(form, isWholePage) ?? onPage;
  const compares = Boolean(form.querySelector("[data-compare]"));
  const hint = compares ? `${HINT}, or two to compare them.` : `${HINT}.`;
  form.querySelector("[data-selection-count]").textContent = selected ? `${selected.toLocaleString("en")} selected` : hint;
  for (const button of form.querySelectorAll("[data-needs-selection]")) button.disabled = selected === 0;
  form.classList.toggle("idle", selected === 0);
  all.hidden = false;
  all.checked = isWholePage;
  all.indeterminate = onPage > 0 && !isWholePage;
  const compare = form.querySelector("[data-compare]");
  if (!compare) return;
  compare.disabled = selected !== 2;
  form.querySelector("[data-compare-hint]").textContent = COMPARE_HINTS[selected] ?? "select only two";
}
