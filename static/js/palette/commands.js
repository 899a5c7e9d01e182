// Commands that every page has, and those of pages that read like a document.
import { keyboard, typing } from "../shell/keyboard.js";
import { openDialog } from "../shell/popups.js";
import * as theme from "../shell/theme.js";

export const EVERYWHERE = [
  { keys: ["Ctrl+K"], does: "find a command, session, or event", run: () => openDialog("palette"), when: () => false },
  { keys: [], does: "search all sessions", run: () => location.assign("/search") },
  { keys: ["t"], does: "switch theme", run: () => theme.toggle() },
  { keys: ["?"], does: "show keyboard shortcuts", run: () => openDialog("keys") },
  { keys: [], does: "show secrets for 10 minutes", press: "[data-secrets=hidden] .show-secrets button" },
  { keys: [], does: "hide secrets", press: "[data-secrets=shown] .secrets-shown button" },
  { keys: [], does: "all apps and recent sessions", run: () => location.assign("/") },
  { keys: [], does: "HTTP API reference", run: () => location.assign("/docs") },
];

const SECTIONS = {
  Page: [
    { keys: ["C"], does: "new session of this app", press: ".new-session .go button" },
    { keys: [], does: "reload the app", press: ".app-head form button" },
    { keys: [], does: "starred sessions only", press: ".list-head a[href='?starred=yes']" },
    { keys: [], does: "compare the selected sessions", press: "#compare button" },
    { keys: [], does: "import sessions from a file", press: ".import:not([open]) > summary" },
    ...EVERYWHERE,
  ],
};

export const { start, connect } = keyboard(SECTIONS, ({ target }) => !typing(target));
