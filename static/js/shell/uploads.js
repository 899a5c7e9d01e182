// Files in a form take as long as the connection needs: the form's `data-upload` shows how far they are, and cancels. An
// XMLHttpRequest sends them, because fetch doesn't report progress; htmx handles the response as usual.
const PATIENCE = 300; // milliseconds; most files are sent sooner

export function start() {
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    const form = ctx.sourceElement, { body } = ctx.request;
    if (!form.querySelector("[data-upload]") || !(body instanceof FormData) || ![...body.values()].some((value) => value.size)) return;
    clearTimeout(ctx.requestTimeout); // however slow the connection is, the reader decides when it's too slow
    ctx.fetch = (address, request) => send(address, request, form);
  });
  document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
    if (ctx.sourceElement?.matches?.("form.upload") && ctx.response.status < 400) ctx.sourceElement.reset();
  });
  document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
    const box = ctx.sourceElement?.querySelector?.("[data-upload]");
    if (!box || box.hidden) return;
    const hasFocus = box.contains(document.activeElement);
    box.hidden = true;
    if (hasFocus) ctx.sourceElement.querySelector("textarea, [type=file]").focus();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-upload] button");
    if (button) window.htmx.trigger(button.form, "htmx:abort");
  });
}

function send(address, { method, headers, body, signal }, form) {
  const xhr = new XMLHttpRequest(), since = performance.now();
  xhr.open(method, address);
  for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
  xhr.upload.addEventListener("progress", ({ loaded, total }) => {
    if (performance.now() - since > PATIENCE) show(form, loaded / total);
  });
  signal.addEventListener("abort", () => xhr.abort());
  return new Promise((resolve, reject) => {
    xhr.addEventListener("load", () => resolve(response(xhr)));
    xhr.addEventListener("error", () => reject(new TypeError("The files could not be sent")));
    xhr.addEventListener("abort", () => reject(new DOMException("The files were not sent", "AbortError")));
    xhr.send(body);
  });
}

// Once everything is sent, the server stores it: that is too late to cancel, and has no measure.
function show(form, share) {
  const box = form.querySelector("[data-upload]"), bar = box.querySelector("progress"), isSent = share === 1;
  box.hidden = false;
  bar.value = share;
  if (isSent) bar.removeAttribute("value");
  box.querySelector("[data-share]").textContent = isSent ? "" : `${Math.floor(share * 100)}%`;
  box.querySelector("[role=status]").textContent = isSent ? "Saving files…" : "Sending files…";
  box.querySelector("button").disabled = isSent;
}

function response(xhr) {
  const lines = xhr.getAllResponseHeaders().trim().split("\r\n");
  const headers = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
  const isEmpty = [204, 205, 304].includes(xhr.status);
  return new Response(isEmpty ? null : xhr.responseText, { status: xhr.status, headers });
}
