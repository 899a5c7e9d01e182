// Loads a picture from another server once someone asks for it: into a sandboxed frame, whose page may load from that server only. It
// isn't remembered.
export function start() {
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("[data-load-picture]");
    if (button) toggle(button);
  });
}

function toggle(button) {
  const current = button.nextElementSibling?.matches("iframe") && button.nextElementSibling;
  if (current) {
    current.remove();
    button.textContent = button.dataset.label;
    return;
  }
  const address = button.dataset.loadPicture, frame = document.createElement("iframe");
  frame.className = "remote-picture";
  frame.title = `Picture from ${new URL(address).host}`;
  frame.setAttribute("sandbox", "");
  frame.referrerPolicy = "no-referrer";
  frame.src = `/frames/picture?address=${encodeURIComponent(address)}`;
  button.after(frame);
  button.dataset.label = button.textContent;
  button.textContent = "Hide picture";
}
