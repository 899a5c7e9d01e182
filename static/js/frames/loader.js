// Loads the script for diagrams, and for pictures of other servers, once the page shows one.
let isLoaded = false;

export function update() {
  if (isLoaded || !document.querySelector(".diagram, [data-load-picture]")) return;
  isLoaded = true;
  const script = document.createElement("script");
  script.type = "module";
  script.src = new URL("frames.js", import.meta.url); // relative to the page's script, which this module is joined into
  document.head.append(script);
}
