// On a slow line Gradio takes long to load: until it has, a first visit shows the picture that comes with the page.
const showFirst = () => {
  if (!document.body || !window.gradio_config) return requestAnimationFrame(showFirst);
  const { components, css } = window.gradio_config;
  const first = document.createElement("main"), style = document.createElement("style");
  first.id = "first";
  first.inert = true;  // its cards cannot be moved yet
  first.className = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "";
  first.innerHTML = `<h1>nDCG</h1>${components.find(each => each.props.elem_id === "picture").props.value}`;
  style.textContent = css;
  document.body.prepend(style, first);
  const watch = new MutationObserver(() => {
    if (!document.querySelector("#picture .picture")) return;
    watch.disconnect();
    style.remove();
    first.remove();
  });
  watch.observe(document.body, { childList: true, subtree: true });
};
if (!location.search) showFirst();
