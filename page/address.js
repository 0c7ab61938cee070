// The address names what is shown. What comes a second after the last change is a step of its own, which Back undoes,
// and so does Undo, as far as the page has steps.
const own = search => [...new URLSearchParams(search)].filter(([name]) => !name.startsWith("__")).sort().join();
const others = () => [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("__"));
const steps = () => history.state?.steps ?? 0;
const mark = () => document.documentElement.toggleAttribute("data-undo", steps() > 0);
const undo = () => steps() && history.back();
const shown = () => own(props.value.query);
let last = null;
let backs = 0, led = null;  // how often Back or Forward was pressed, and where the last led
mark();
watch("value", () => {
  if (props.value.backs < backs) return;  // what was shown before the last of them
  const now = Date.now();
  const step = last !== null && now - last > 1000;
  last = now;
  if (own(location.search) === shown()) return;
  const rest = others().map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("");
  const state = { ...history.state, steps: steps() + step };
  history[step ? "pushState" : "replaceState"](state, "", `?${props.value.query}${rest}`);
  mark();
});
document.addEventListener("click", event => event.target.closest?.(".undo") && undo());
document.addEventListener("keydown", event => {
  if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.target.closest("input, textarea")) return;
  event.preventDefault();
  undo();
});
addEventListener("popstate", () => {
  mark();
  if (own(location.search) === (props.value.backs < backs ? led : shown())) return;  // a link within the page
  led = own(location.search);
  ask("back", { query: location.search, backs: ++backs });
});
// Gradio's router, which knows nothing of this address, would answer a link within the page by loading it again.
document.addEventListener("click", event => {
  const link = event.target.closest?.('a[href^="#"]');
  const target = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (!target) return;
  event.preventDefault();
  event.stopPropagation();
  target.scrollIntoView();
}, true);
