// The field for the first message of a new session: Enter sends it, Shift+Enter starts a new line.
import { composing } from "../shell/keyboard.js";

let isSubmitted = false; // a session is to be made once, however often Enter is pressed

export function start() {
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (target.id !== "first-message" || event.key !== "Enter" || event.shiftKey || composing(event)) return;
    event.preventDefault();
    if (event.repeat || isSubmitted || !target.value.trim()) return;
    isSubmitted = true;
    target.form.requestSubmit();
  });
  addEventListener("pageshow", () => { isSubmitted = false; });
}
