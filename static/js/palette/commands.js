// Commands of every page, and those of pages that read like a document.
import { keyboard, typing } from "../shell/keyboard.js";
import { openDialog } from "../shell/popups.js";
import * as theme from "../shell/theme.js";

export const EVERYWHERE = [
  { keys: ["Ctrl+K"], does: "find a command, session, or event", run: () => openDialog("palette"), when: () => false },
  { keys: [], does: "search all sessions", run: () => location.assign("/search") },
  { keys: ["t"], does: "switch theme", run: () => theme.toggle() },
  { keys: [], does: "use the dark theme", run: () => theme.toggle(), when: () => !theme.isDark() },
  { keys: [], does: "use the light theme", run: () => theme.toggle(), when: () => theme.isDark() },
  { keys: ["?"], does: "show keyboard shortcuts", synonyms: "help guide", run: () => openDialog("keys") },
  { keys: [], does: "show secrets for 10 minutes", press: "[data-secrets=hidden] .show-secrets button" },
  { keys: [], does: "hide secrets", press: "[data-secrets=shown] .secrets-shown button" },
  { keys: [], does: "all apps and recent sessions", run: () => location.assign("/") },
  { keys: [], does: "HTTP API reference", synonyms: "docs documentation guide", run: () => location.assign("/docs") },
];

const sessionFilter = () => document.querySelector(".session-filter input");

// The button of the focused card, or else of the app that was used last and can run.
function newSession() {
  const button = (card) => card?.querySelector("[data-new-session]");
  const usedAt = (card) => card.querySelector("time")?.dateTime ?? "";
  const cards = [...document.querySelectorAll(".app-card")].filter(button).sort((one, other) => usedAt(other).localeCompare(usedAt(one)));
  return button(document.activeElement?.closest(".app-card")) ?? button(cards[0]);
}

const SECTIONS = {
  Page: [
    { keys: ["C"], does: "new session of this app", on: ".new-session", press: ".new-session .go button" },
    { keys: ["C"], does: "new session of the app used last", on: ".cards", run: () => newSession()?.click(), when: newSession },
    { keys: [], does: "reload the app", press: ".app-head form button" },
    { keys: [], does: "filter sessions", run: () => sessionFilter().focus(), when: () => sessionFilter() },
    { keys: [], does: "starred sessions only", run: () => location.assign("?status=starred"), when: () => sessionFilter() },
    { keys: [], does: "compare the selected sessions", press: "#selection [data-compare]" },
    { keys: [], does: "export the selected sessions", press: "#selection [data-export]" },
    { keys: [], does: "import sessions from a file", press: ".import:not([open]) > summary" },
    ...EVERYWHERE,
  ],
};

export const { start, connect } = keyboard(SECTIONS, ({ target }) => !typing(target));
