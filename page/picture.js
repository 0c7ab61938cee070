// Cards that move by mouse, touch or keys: their order is drawn at once, its numbers come from the metric.
const said = document.createElement("p");
said.className = "sr-said";
said.setAttribute("role", "status");
element.after(said);

const find = where => element.querySelector(where);
const items = where => [...element.querySelectorAll(`${where} > li`)];
const documents = where => items(where).map(li => li.dataset.document);
const cards = () => new Map([...items(".order"), ...items(".tray ul")].map(li => [li.dataset.document, li]));
const order = () => [documents(".order"), documents(".tray ul")].join("\n");

// The order and the relevance that the reader gave, which an answer to an edit before the last must not take back.
const wanted = { edits: 0, ranked: [], missed: [], grades: {} };
const send = () => {
  Object.assign(wanted, { edits: wanted.edits + 1, ranked: documents(".order"), missed: documents(".tray ul") });
  ask("edit", wanted);
};

let dragged = null, focused = null, before = "", height = 0;

// Gradio draws an answer into the elements that are there, so a card is known by its document alone.
watch("value", () => {
  const drawn = cards(), named = [...wanted.ranked, ...wanted.missed];
  const same = named.length === drawn.size && named.every(each => drawn.has(each));
  if (same && Number(find(".picture").dataset.edits) < wanted.edits) {
    find(".order").append(...wanted.ranked.map(each => drawn.get(each)));
    find(".tray ul").append(...wanted.missed.map(each => drawn.get(each)));
    drawn.get(focused)?.querySelector(".grip").focus({ preventScroll: true });
  } else {
    Object.assign(wanted, { ranked: [], missed: [], grades: {} });
  }
  if (dragged === null) return;
  before = order();
  if (drawn.has(dragged)) place();
  else dragged = null;
});

document.addEventListener("focusin", event => {
  focused = event.target.closest("#picture .grip")?.closest("li").dataset.document;
});

element.addEventListener("pointerdown", event => {
  const card = event.target.closest(".card");
  const grip = event.target.closest(".grip");
  if (!card || event.button || event.target.closest(".grade") || card.closest(".removed")) return;
  if (event.pointerType !== "mouse" && !grip) return;  // elsewhere, a finger scrolls
  dragged = card.closest("li").dataset.document;
  height = event.clientY;
  before = order();
  card.closest("li").classList.add("dragged");
  card.querySelector(".grip").focus({ preventScroll: true });
  element.setPointerCapture(event.pointerId);
  event.preventDefault();
});

const place = () => {
  const li = cards().get(dragged);
  li.classList.add("dragged");
  if (height > find(".tray").getBoundingClientRect().top) return find(".tray ul").append(li);
  const middle = each => { const box = each.getBoundingClientRect(); return box.top + box.height / 2; };
  const next = items(".order").find(each => each !== li && height < middle(each));
  find(".order").insertBefore(li, next || null);
};

element.addEventListener("pointermove", event => {
  if (dragged === null) return;
  height = event.clientY;
  place();
});

const drop = () => {
  if (dragged === null) return;
  cards().get(dragged).classList.remove("dragged");
  dragged = null;
  if (order() !== before) send();
};
element.addEventListener("pointerup", drop);
element.addEventListener("pointercancel", drop);

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
  before = order();
  moves[event.key]();
  if (order() === before) return;
  const place = li.parentElement === tray ? "not retrieved" : `rank ${documents(".order").indexOf(li.dataset.document) + 1}`;
  said.textContent = `${li.dataset.document}: ${place}`;
  grip.focus();
  send();
});

element.addEventListener("click", event => {
  const grade = event.target.closest(".grade");
  if (grade) {
    const name = grade.closest("li").dataset.document;
    const now = wanted.grades[name] ?? grade.dataset.relevance;
    // after the highest comes 0, as after none
    wanted.grades[name] = now === "" || now >= Number(find(".picture").dataset.highest) ? 0 : Number(now) + 1;
    send();
  }
  if (!event.target.closest(".advice")) return;
  const [one, other] = [...element.querySelectorAll(".advised")].map(card => card.closest("li"));
  if (!other) find(".order").prepend(one);
  else {
    const hole = document.createComment("");
    one.replaceWith(hole);
    other.replaceWith(one);
    hole.replaceWith(other);
  }
  send();
});
