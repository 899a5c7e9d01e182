// A flag in the tab's storage, left by a page that starts a session with a message and taken by the session that opens next.
const KEY = "session-begun";

export function leave() {
  sessionStorage.setItem(KEY, "yes");
}

export function take() {
  const isNew = sessionStorage.getItem(KEY) !== null;
  sessionStorage.removeItem(KEY);
  return isNew;
}
