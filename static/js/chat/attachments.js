// Files for the next message: chosen, dropped on the chat, or pasted. The form's file input holds them all, so the form sends
// them as it would without a script.

const THUMBNAIL = 2e6; // bytes of the largest picture that is shown beside its name
const attached = new WeakMap(); // the files of each input; choosing again replaces those in the input itself

export function start() {
  document.addEventListener("change", ({ target }) => {
    if (target.matches?.("[data-files]")) attach(target.form, target.files);
  });
  document.addEventListener("paste", (event) => {
    const form = event.target.closest?.("[data-composer]");
    const { files } = event.clipboardData;
    if (!form || !files.length || event.clipboardData.getData("text/plain")) return; // a table is pasted as text
    event.preventDefault();
    attach(form, files);
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-composer] [data-remove]");
    if (!button) return;
    const form = button.form, item = button.closest("li");
    const place = [...item.parentElement.children].indexOf(item);
    hold(form, of(form).filter((_, at) => at !== place));
    (form.querySelectorAll("[data-remove]")[place] ?? form.querySelector("#composer-text")).focus();
  });
  dropping();
}

export function of(form) {
  return attached.get(form.querySelector("[data-files]")) ?? [];
}

// Removes the files that were sent with a message; others may have been added since.
export function remove(form, files) {
  const same = (one, other) => one.name === other.name && one.size === other.size && one.lastModified === other.lastModified;
  hold(form, of(form).filter((file) => !files.some((each) => same(each, file))));
}

function dropping() {
  const over = (event) => event.dataTransfer?.types.includes("Files") && event.target.closest?.(".chat:has([data-composer])");
  document.addEventListener("dragover", (event) => {
    const chat = over(event);
    if (!chat) return;
    event.preventDefault();
    chat.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    const chat = event.target.closest?.(".chat.dropping");
    if (chat && !chat.contains(event.relatedTarget)) chat.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    const chat = over(event);
    if (!chat) return;
    event.preventDefault();
    chat.classList.remove("dropping");
    attach(chat.querySelector("[data-composer]"), event.dataTransfer.files);
    chat.querySelector("[data-composer] #composer-text").focus();
  });
}

function attach(form, added) {
  const most = Number(form.querySelector("[data-files]").dataset.files);
  const files = of(form), tooLarge = [];
  let size = files.reduce((sum, file) => sum + file.size, 0);
  for (const file of added) {
    if (size + file.size > most) tooLarge.push(file.name);
    else size += files.push(file) && file.size;
  }
  const problem = `${tooLarge.join(", ")} not attached: a message can carry up to ${bytes(most)} of files. Save larger files where the agent can read them.`;
  form.querySelector("[role=alert]").textContent = tooLarge.length ? problem : "";
  hold(form, files);
  const list = form.querySelector("[data-attached]");
  list.scrollTop = list.scrollHeight; // the new ones are last
}

function hold(form, files) {
  const input = form.querySelector("[data-files]"), list = form.querySelector("[data-attached]");
  const data = new DataTransfer();
  for (const file of files) data.items.add(file);
  attached.set(input, files);
  input.files = data.files;
  list.hidden = !files.length;
  list.replaceChildren(...files.map((file) => item(form, file)));
  form.noValidate = files.length > 0; // files need no text; set on the form, because the field may be replaced at any time
}

function item(form, file) {
  const element = form.querySelector("[data-attachment]").content.cloneNode(true).firstElementChild;
  element.querySelector("[data-name]").textContent = file.name;
  element.querySelector("[data-size]").textContent = bytes(file.size);
  const remove = element.querySelector("[data-remove]");
  remove.title = `Remove ${file.name}`;
  remove.setAttribute("aria-label", remove.title);
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.type) && file.size <= THUMBNAIL) thumbnail(element, file);
  return element;
}

// A data URL: the page's content security policy allows no other address for a local file.
function thumbnail(element, file) {
  const reader = new FileReader(), picture = element.querySelector("img");
  reader.onload = () => {
    picture.src = reader.result;
    picture.hidden = false;
    element.querySelector(".icon").remove();
  };
  reader.readAsDataURL(file);
}

function bytes(number) {
  const [value, unit] = number < 1e3 ? [number, "B"] : number < 1e6 ? [number / 1e3, "kB"] : [number / 1e6, "MB"];
  return `${value < 10 && unit !== "B" ? value.toFixed(1) : Math.round(value)} ${unit}`;
}
