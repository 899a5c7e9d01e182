// The selected sessions of a list: selects all on the page, counts them, and enables what can be done with that many.
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

function tell(form) {
  const selected = boxes(form).filter(({ checked }) => checked).length, all = document.querySelector("[data-select-all]");
  const compares = Boolean(form.querySelector("[data-compare]"));
  const hint = compares ? `${HINT}, or two to compare them.` : `${HINT}.`;
  form.querySelector("[data-selection-count]").textContent = selected ? `${selected} selected` : hint;
  for (const button of form.querySelectorAll("[data-needs-selection]")) button.disabled = selected === 0;
  form.classList.toggle("idle", selected === 0);
  all.hidden = false;
  all.checked = selected > 0 && selected === boxes(form).length;
  all.indeterminate = selected > 0 && !all.checked;
  const compare = form.querySelector("[data-compare]");
  if (!compare) return;
  compare.disabled = selected !== 2;
  form.querySelector("[data-compare-hint]").textContent = COMPARE_HINTS[selected] ?? "select only two";
}
