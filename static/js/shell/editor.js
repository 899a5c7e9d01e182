// Opens lines of code in the editor chosen in this browser. Only the server builds the address, after it has checked the
// file; no page links to it.
const ADDRESS = /^(vscode|cursor|pycharm):\/\//;
let waiting = null;

export function start() {
  document.addEventListener("click", (event) => {
    const dialog = document.getElementById("choose-editor");
    const button = event.target.closest?.(".open-place");
    if (dialog && button && (event.shiftKey || !isChosen(dialog))) {
      event.preventDefault();
      event.stopPropagation();
      waiting = button;
      dialog.showModal();
    }
    const choice = event.target.closest?.("[data-editor]");
    if (choice) choose(dialog, choice.dataset.editor);
  }, true);
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    const address = ctx.response?.headers?.get("X-Devui-Address");
    if (address && ADDRESS.test(address)) location.assign(address);
  });
}

// Whether the cookie names an editor that the dialog offers. Earlier servers, and others on this host, may have set another.
function isChosen(dialog) {
  const names = [...dialog.querySelectorAll("[data-editor]")].map((each) => `editor=${each.dataset.editor}`);
  return document.cookie.split("; ").some((each) => names.includes(each));
}

function choose(dialog, name) {
  document.cookie = `editor=${name}; path=/; max-age=31536000; samesite=strict`;
  dialog.close();
  waiting?.click();
}
