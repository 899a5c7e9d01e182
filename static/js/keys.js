// The keys of the session page at work, and the sheet that shows them.
import { keyboard, typing } from "./keyboard.js";
import { KEYS } from "./keytable.js";

// Letters belong to the field that is being typed in, function keys to none; arrows to the pane that is being read,
// and Escape to the title while it is being changed.
function handles({ target, key }) {
  if (key === "Escape") return !target.closest?.("[data-title]");
  if (/^F\d+$/.test(key)) return true;
  if (typing(target)) return false;
  if (key === " ") return !target.closest?.("button, summary, [role=button]"); // it presses these
  return !key.startsWith("Arrow") || target === document.body || Boolean(target.closest?.("#rows"));
}

export const { start, connect } = keyboard(KEYS, handles);
