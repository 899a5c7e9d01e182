// Selects two sessions of a list to compare; the button says how many are missing.
const HINTS = ["select two", "select one more", ""];

export function start() {
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("input[form=compare]")) tell(event.target.form);
  });
}

export function connect(root) {
  const form = root.querySelector?.("[data-compare]");
  if (form) tell(form);
}

function tell(form) {
  const picked = [...form.elements].filter((each) => each.checked).length;
  form.querySelector("button").disabled = picked !== 2;
  form.querySelector("[data-compare-hint]").textContent = HINTS[picked] ?? "select only two";
}
