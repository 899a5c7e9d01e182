// The field for the first message of a new session: Enter sends it, Shift+Enter starts a new line.
import * as handover from "../chat/handover.js";
import { composing } from "../shell/keyboard.js";

let isSubmitted = false; // one session is created, however often Enter is pressed

export function start() {
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (target.id !== "first-message" || event.key !== "Enter" || event.shiftKey || composing(event)) return;
    event.preventDefault();
    if (event.repeat || isSubmitted || !target.value.trim()) return;
    isSubmitted = true;
    target.form.requestSubmit();
  });
  document.addEventListener("submit", ({ target }) => {
    if (target.matches(".new-session, .prompts")) handover.leave();
  });
  addEventListener("pageshow", () => {
    isSubmitted = false;
    handover.take(); // the form was refused, or the reader is back from the session
  });
}
