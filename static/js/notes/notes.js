// `x` stars the selected event, `N` writes a note. Both are in the event's detail, which is shown first if another tab is open.
const click = (selector) => document.querySelector(selector)?.click();

export function star() {
  const button = document.getElementById("do-star");
  if (button) button.click();
  else inDetail(star);
}

export function write() {
  const box = document.getElementById("note-edit");
  if (!box) return inDetail(write);
  box.open = true;
  box.querySelector("textarea").focus();
}

function inDetail(then) {
  const tab = document.querySelector('[data-tab="1"]');
  if (!tab || tab.matches("[aria-selected=true]")) return;
  document.addEventListener("htmx:after:swap", () => { if (document.getElementById("do-star")) then(); }, { once: true });
  click('[data-tab="1"]');
}
