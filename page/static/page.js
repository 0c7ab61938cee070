// The page shows what its address says. A change asks the server for the page at another address,
// shows that, and makes it the address of the browser, so that Back and a link bring it back.
let wanted = new URLSearchParams(location.search);  // with the changes that have no answer yet
let asked = 0, isHeld = false, late = null, lastChange = 0;

const stepsBack = () => history.state?.steps ?? 0;
// What the reader looks at; within it, changes can be undone, and what is unfolded stays so.
const sceneOf = query => ["tab", "step", "run"].map(name => query.get(name)).join();
const said = document.createElement("p");
said.className = "unseen";
said.setAttribute("role", "status");
document.body.append(said);

// Change parts of the address; an empty one goes.
const change = changes => {
  const query = new URLSearchParams(wanted);
  for (const [name, text] of Object.entries(changes)) {
    if (text === "") query.delete(name);
    else query.set(name, text);
  }
  return go(query);
};

const go = async (query, isNew = true) => {
  const number = ++asked;
  wanted = new URLSearchParams(query);
  const slow = setTimeout(() => document.body.classList.add("late"), 500);
  try {
    const answer = await fetch(`?${wanted}`);
    const html = await answer.text();
    if (!answer.ok) throw new Error(answer.statusText);
    if (number === asked) show(html, isNew);
  } catch (error) {
    if (number === asked) remark("The server did not answer. Your last change is not in the score; try it again.");
  }
  clearTimeout(slow);
  if (number === asked) document.body.classList.remove("late");
};

const remark = (text, role = "alert") => {
  const note = document.createElement("p");
  note.className = "note";
  note.setAttribute("role", role);
  note.textContent = text;
  document.querySelector(".notes").replaceChildren(note);
};

// Show an answer. What is held at the moment is not taken away.
const show = (html, isNew) => {
  late = isHeld ? () => show(html, isNew) : null;
  if (isHeld) return;
  const answer = new DOMParser().parseFromString(html, "text/html");
  const main = document.querySelector("main"), next = answer.querySelector("main");
  // Beside a pasted ranking that cannot be read, all stays as it is.
  const refused = next.querySelector(".own .problem"), own = main.querySelector(".own");
  own?.querySelector(".problem")?.remove();
  if (refused && own) {
    wanted = new URLSearchParams(location.search);
    own.append(refused);
    return;
  }
  const parts = root => [...root.querySelectorAll("[data-part]")];
  const names = root => parts(root).map(part => part.dataset.part).join();
  const focus = focused();
  const [before, after] = [main, next].map(root => sceneOf(new URLSearchParams(root.dataset.address)));
  const open = [...main.querySelectorAll("details[open][id]")].map(details => details.id);
  for (const id of before === after ? open : []) next.querySelector(`#${id}`)?.setAttribute("open", "");
  if (names(main) === names(next)) {
    const answers = parts(next);
    parts(main).forEach((part, at) => part.isEqualNode(answers[at]) || part.replaceWith(answers[at]));
    main.dataset.address = next.dataset.address;
  } else {
    main.replaceWith(next);
  }
  const [header, nextHeader] = [document, answer].map(root => root.querySelector("header"));
  if (!header.isEqualNode(nextHeader)) header.replaceWith(nextHeader);  // another place is marked
  document.title = answer.title;
  remember(isNew);
  document.dispatchEvent(new Event("shown"));
  if (isNew && before !== after) scrollToScene();
  refocus(focus);
};

// Scroll to the number; in a comparison to the query that is open.
const scrollToScene = () => {
  scrollTo(0, 0);
  const query = document.querySelector(".queries");
  if (query && wanted.get("query")) query.scrollIntoView();
};

// Lead to the figure of a pasted ranking, unless the text was refused.
const showFigure = () => {
  if (document.querySelector(".own .problem")) return;
  scrollTo(0, 0);
  document.querySelector(".figure").focus({ preventScroll: true });
};

// Whether a guess was made just now, which is no change to be undone.
const isGuess = query => (query.get("guess") ?? "") !== (new URLSearchParams(location.search).get("guess") ?? "");

// Make the address of the browser that of the page. What follows within a second is one step.
const remember = isNew => {
  const query = new URLSearchParams(document.querySelector("main").dataset.address);
  for (const [name, text] of new URLSearchParams(location.search)) {
    if (name.startsWith("__")) query.set(name, text);  // of the Space around the page
  }
  wanted = query;
  const text = query.toString().replaceAll("%2C", ",");
  const isStep = isNew && Date.now() - lastChange > 1000;
  if (isNew) lastChange = Date.now();
  const isOther = sceneOf(query) !== sceneOf(new URLSearchParams(location.search));
  const state = { steps: isOther || isGuess(query) ? 0 : stepsBack() + isStep };
  history[isStep ? "pushState" : "replaceState"](state, "", text ? `?${text}` : location.pathname);
  if (parent !== window) parent.postMessage({ queryString: text, hash: "" }, "https://huggingface.co");
};

// The element with the focus, by what names it in the next answer too.
const focused = () => {
  const element = document.activeElement, named = name => element.closest(`[data-${name}]`)?.dataset[name];
  const at = named("at"), query = named("query"), run = named("run");
  let where = element.id ? `#${element.id}` : "";
  if (element.name) where = `[name="${element.name}"]`;
  if (at !== undefined) where = `[data-at="${at}"] .card`;
  if (query !== undefined) where = `[data-query="${CSS.escape(query)}"] ${run ? `[data-run="${CSS.escape(run)}"]` : "a"}`;
  return { where, typed: element.value !== element.defaultValue ? element.value : undefined };
};
const refocus = ({ where, typed }) => {
  const element = where && document.querySelector(where);
  if (!element || element === document.activeElement) return;
  element.focus({ preventScroll: true });
  if (typed !== undefined && "defaultValue" in element) element.value = typed;
};

document.addEventListener("click", event => {
  const link = event.target.closest('main a[href^="?"]');
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    lastChange = 0;  // a step of its own
    const shown = go(link.getAttribute("href").slice(1));
    if (link.closest(".thread .on")) scrollTo(0, 0);
    if (link.closest(".own")) shown.then(showFigure);
    // on a phone, the answer would push what leads on off the screen
    if (link.closest(".guesses")) shown.then(() => document.querySelector(".thread .on").scrollIntoView({ block: "nearest" }));
  }
  if (event.target.closest(".undo")) history.back();
  const copy = event.target.closest(".copy");
  if (copy) {
    navigator.clipboard.writeText(copy.previousElementSibling.textContent);
    copy.textContent = "Copied";
  }
});

document.addEventListener("submit", event => {
  const form = event.target;
  if (form.method !== "get") return;
  event.preventDefault();
  lastChange = 0;
  const fields = [...new FormData(form)].filter(([name, text]) => text !== "" || name === "paste");
  if (form.matches(".settings")) return;
  const shown = go(new URLSearchParams(fields));
  if (form.matches(".own")) shown.then(showFigure);
});

document.addEventListener("change", event => {
  const field = event.target;
  if (!field.closest(".settings")) return;
  const name = field.dataset.option ?? field.name;
  const text = field.value.trim();
  if (name === "k" && !text) field.value = field.defaultValue;  // an emptied field changes nothing
  else if (name === "convention") {
    const cleared = field.dataset.clears.split(" ").map(option => [option, ""]);
    change({ ...Object.fromEntries(cleared), convention: text });
  } else change({ [name]: text });
});

document.addEventListener("input", event => {
  const { most } = event.target.dataset;
  const isLong = most && event.target.value.length > most;
  if (most) event.target.setCustomValidity(isLong ? `At most ${most} characters fit into the address; Compare takes files.` : "");
});

document.addEventListener("keydown", event => {
  const isUndo = event.key === "z" && (event.ctrlKey || event.metaKey);
  if (!isUndo || event.target.closest("input, textarea") || !stepsBack()) return;
  event.preventDefault();
  history.back();
});

addEventListener("popstate", () => go(location.search, false));
const prepare = () => { for (const undo of document.querySelectorAll(".undo")) undo.hidden = !stepsBack(); };
document.addEventListener("shown", prepare);
prepare();

// What stands for the same document lights up together.
document.addEventListener("pointerover", event => {
  const at = event.target.closest("[data-at]")?.dataset.at;
  for (const part of document.querySelectorAll("[data-at]")) {
    part.classList.toggle("lit", at !== undefined && at !== "-1" && part.dataset.at === at);
  }
});
