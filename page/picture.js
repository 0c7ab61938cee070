// Cards that move by mouse, touch or keys: their order is drawn at once, its numbers come from the metric.
const said = document.createElement("p");
said.className = "sr-said";
said.setAttribute("role", "status");
element.after(said);

const find = where => element.querySelector(where);
const items = where => [...element.querySelectorAll(`${where} > li`)];
const documents = where => items(where).map(li => li.dataset.document);
const cards = () => new Map([...items(".order"), ...items(".tray ul")].map(li => [li.dataset.document, li]));
const order = () => ({ ranked: documents(".order"), missed: documents(".tray ul") });

const named = html => [...html.matchAll(/data-document='(.*?)'/g)].map(([, name]) => name).sort().join("\n");

// What the reader made of the picture. What was drawn before the last edit would take that back, so it is not shown,
// unless that edit was refused, or other documents were chosen.
const wanted = { edits: 0, grades: {}, ...order() };
let refused = 0, shown = props.value, isNew = false, drawn = new Map();
const isEdited = () => JSON.stringify(order()) !== JSON.stringify({ ranked: wanted.ranked, missed: wanted.missed });
const send = () => ask("edit", Object.assign(wanted, order(), { edits: wanted.edits + 1 }));
globalThis.refuseEdit = () => { refused = wanted.edits; wanted.grades = {}; find(".picture")?.classList.remove("unsummed"); };
globalThis.pictureToShow = html => {
  if (html === shown) return shown;  // it comes again after an older picture, which was not shown
  if (named(html) !== named(shown)) refuseEdit();
  else if (Number(/data-edits='(.*?)'/.exec(html)?.[1]) < wanted.edits && refused < wanted.edits) return shown;
  isNew = true;
  drawn = tops();
  return shown = html;
};

let dragged = null, height = 0, hold = 0;  // the card that is held, and where: on the screen, and below its top

// Cards move to where they belong, by whatever they come to be elsewhere, unless the reader wants no motion.
const tops = () => new Map([...cards()].map(([name, li]) => [name, li.offsetTop - find(".order").offsetTop]));
const glide = (each, from) => {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  each.animate([{ transform: from }, { transform: "none" }], { duration: 180, easing: "ease-out" });
};
const glideFrom = before => {
  for (const [name, top] of tops()) {
    const by = before.get(name) - top;
    if (by && name !== dragged) glide(cards().get(name), `translateY(${by}px)`);
  }
};
const moving = change => { const before = tops(); change(); glideFrom(before); };

// What an order adds up to before it is sent: gains at the discounts of their places, and what is not drawn.
globalThis.sumsOf = (gains, { discounts, ideal, rest }) => {
  const added = gains.map((gain, at) => gain * discounts[at]);
  const dcg = added.reduce((sum, each) => sum + each, rest);
  return { added, dcg, score: dcg / ideal };
};

// While a card is held, its sums are those of the rank it is over; if only the metric can tell, there are none.
let before = null;
const scored = () => Number(/class='value'>([^<]*)/.exec(shown)?.[1]);  // by the metric
const sumUp = () => {
  const { discounts, ideal, rest, count } = find(".picture").dataset, list = items(".order");
  const isKnown = discounts && (count ?? list.length) == list.length;
  const given = { discounts: JSON.parse(discounts ?? "[]"), ideal: Number(ideal), rest: Number(rest) };
  const sums = isKnown && sumsOf(list.map(li => Number(li.dataset.gain)), given);
  find(".picture").classList.toggle("unsummed", !sums);
  if (!sums) return;
  const decimals = (number, digits) => Math.abs(number) < 1e5 ? number.toFixed(digits) : number.toExponential(3);
  const write = (where, number, digits = 4) => { if (where) where.textContent = decimals(number, digits); };
  list.forEach((li, at) => {
    write(li.querySelector(".sum [data-term=discount]"), given.discounts[at], 2);
    write(li.querySelector(".sum [data-term=dcg]"), sums.added[at], 2);
    const [gain, part] = li.querySelectorAll(".bar > *");
    const here = given.discounts[at], [above, below] = [at - 1, at + 1].map(each => given.discounts[each] ?? here);
    const points = [above, here, below].map((each, row) => `${50 * (each + here)},${50 * row}`);
    li.querySelector("polyline")?.setAttribute("points", points.join(" "));
    if (gain) part.style.width = `${Math.min(100, parseFloat(gain.style.width) * given.discounts[at])}%`;
  });
  write(find(".score .value"), sums.score);
  write(find(".part[data-term=dcg] b"), sums.dcg);
  const change = sums.score - before;
  const sign = change < 0 ? "−" : "+";
  find(".change").textContent = `${sign}${Math.abs(change).toFixed(4)} from ${before.toFixed(4)}`;
};

// Gradio draws into the elements that are there, so a card that is held is known by its document.
watch("value", () => {
  if (!isNew) return;
  isNew = false;
  Object.assign(wanted, order(), { grades: {} });
  for (const card of element.querySelectorAll(".card")) card.style.transform = "";
  if (cards().has(dragged)) { before = scored(); place(); sumUp(); follow(); }
  else { dragged = null; find(".picture")?.classList.remove("unsummed"); }
  glideFrom(drawn);
});

// Gradio writes what a field begins with, not what it holds.
const fields = () => [...element.querySelectorAll("[data-option]")];
const isValid = field => {
  const { valid } = field.validity;
  if (field.matches("input")) { field.ariaInvalid = !valid; find(".fault").hidden = valid; }
  return valid;
};
const written = ({ value, valueAsNumber }) => valueAsNumber > 0 ? String(valueAsNumber) : value;  // not such as 1e3
watch("value", () => {
  for (const each of fields()) if (each !== document.activeElement) { each.value = each.dataset.chosen; isValid(each); }
});
element.addEventListener("change", event => {
  const { option } = event.target.dataset;  // compared, since Gradio looks for the names of events in this text
  if ((option === "k" || option === "gain") && isValid(event.target)) ask(option, { value: written(event.target) });
});

element.addEventListener("pointerdown", event => {
  const card = event.target.closest(".card");
  const grip = event.target.closest(".grip");
  if (!card || event.button || event.target.closest(".grade") || card.closest(".removed")) return;
  if (event.pointerType !== "mouse" && !grip) return;  // elsewhere, a finger scrolls
  dragged = card.closest("li").dataset.document;
  height = event.clientY;
  hold = height - card.closest("li").getBoundingClientRect().top;
  before = scored();
  card.closest("li").classList.add("dragged");
  card.querySelector(".grip").focus({ preventScroll: true });
  element.setPointerCapture(event.pointerId);
  event.preventDefault();
});

// The card that is held stays under the pointer; its row is where it would be dropped.
const follow = () => {
  const li = cards().get(dragged), top = find(".picture").getBoundingClientRect().top + li.offsetTop;
  li.querySelector(".card").style.transform = `translateY(${height - hold - top}px)`;
};

const place = () => {
  const li = cards().get(dragged), top = find(".picture").getBoundingClientRect().top;
  li.classList.add("dragged");
  if (height > find(".tray").getBoundingClientRect().top) {
    if (li.closest(".tray")) return false;
    find(".tray ul").append(li);
    return true;
  }
  const next = items(".order").find(each => each !== li && height < top + each.offsetTop + each.offsetHeight / 2) || null;
  if (li.parentElement === find(".order") && next === li.nextElementSibling) return false;
  moving(() => find(".order").insertBefore(li, next));
  return true;
};

element.addEventListener("pointermove", event => {
  if (dragged === null) return;
  height = event.clientY;
  if (place()) sumUp();
  follow();
});

const drop = () => {
  if (dragged === null) return;
  const li = cards().get(dragged), card = li.querySelector(".card");
  li.classList.remove("dragged");
  if (card.style.transform) glide(card, card.style.transform);
  card.style.transform = "";
  dragged = null;
  sumUp();
  find(".change").textContent = "";
  if (isEdited()) send();
  else find(".picture").classList.remove("unsummed");
};
element.addEventListener("pointerup", drop);
element.addEventListener("pointercancel", drop);

const relevanceOf = li => Number(wanted.grades[li.dataset.document] ?? li.querySelector(".grade").dataset.relevance);
const grade = (li, relevance) => { wanted.grades[li.dataset.document] = relevance; send(); };

// A value of a sentence grows as it is dragged to the right; its field or its dots do the same by keys.
let scrubbed = null;
element.addEventListener("pointerdown", event => {
  const text = event.target.closest("[data-scrub]"), li = text?.closest("li");
  if (!text || event.button) return;
  const value = li ? relevanceOf(li) : Number(text.textContent);
  scrubbed = { x: event.clientX, start: value, value, document: li?.dataset.document };
  element.setPointerCapture(event.pointerId);
  event.preventDefault();
});
element.addEventListener("pointermove", event => {
  if (!scrubbed) return;
  const [least, most] = scrubbed.document
    ? [0, Number(find(".picture").dataset.highest)] : [1, Number(find("[data-option=k]").max)];
  const value = Math.max(least, Math.min(most, scrubbed.start + Math.round((event.clientX - scrubbed.x) / 12)));
  if (value === scrubbed.value) return;
  scrubbed.value = value;
  if (scrubbed.document) grade(cards().get(scrubbed.document), value);
  else ask("k", { value: `${value}` });
});
for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, () => { scrubbed = null; });

element.addEventListener("keydown", event => {
  const grip = event.target.closest(".grip");
  const li = grip?.closest(".order > li, .tray li");
  if (!li) return;
  const ranked = find(".order"), tray = find(".tray ul"), missed = li.parentElement === tray;
  const moves = {
    ArrowUp: () => (missed ? ranked.append(li) : li.previousElementSibling?.before(li)),
    ArrowDown: () => !missed && (li.nextElementSibling ? li.nextElementSibling.after(li) : tray.prepend(li)),
    Home: () => ranked.prepend(li),
    End: () => ranked.append(li),
    Delete: () => tray.append(li),
  };
  if (!moves[event.key]) return;
  event.preventDefault();
  moving(moves[event.key]);
  if (!isEdited()) return;
  const place = li.parentElement === tray ? "not retrieved" : `rank ${documents(".order").indexOf(li.dataset.document) + 1}`;
  said.textContent = `${li.dataset.document}: ${place}`;
  grip.focus();
  send();
});

element.addEventListener("click", event => {
  const button = event.target.closest(".grade");
  if (button) {
    const li = button.closest("li");
    const now = wanted.grades[li.dataset.document] ?? button.dataset.relevance;
    const dots = [...button.querySelectorAll("i")];
    // a dot sets its own value, or, where that is set, one less; by keys, after the highest comes 0, as after none
    const dot = event.detail && 1 + dots.findLastIndex((each, at) => !at || event.clientX >= each.getBoundingClientRect().left - 2);
    const labels = JSON.parse(find(".picture").dataset.labels);
    const following = labels[(labels.indexOf(now) + 1) % labels.length];
    const next = following ?? (now === "" || now >= Number(find(".picture").dataset.highest) ? 0 : Number(now) + 1);
    grade(li, dot ? dot - (Number(now) === dot && now !== "") : next);
  }
  if (!event.target.closest(".advice")) return;
  const [one, other] = [...element.querySelectorAll(".advised")].map(card => card.closest("li"));
  moving(() => {
    if (!other) return find(".order").prepend(one);
    const hole = document.createComment("");
    one.replaceWith(hole);
    other.replaceWith(one);
    hole.replaceWith(other);
  });
  send();
});
