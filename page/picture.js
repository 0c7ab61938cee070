// Cards that move by mouse, touch or keys: their order is drawn at once, its numbers come from the metric.
const said = document.createElement("p");
said.className = "sr-said";
said.setAttribute("role", "status");
element.after(said);

const find = where => element.querySelector(where);
const documents = where => [...element.querySelectorAll(`${where} > li`)].map(li => li.dataset.document);
const send = () => trigger("order", { ranked: documents(".order"), missed: documents(".tray ul") });

let dragged = null, before = "";
const order = () => [documents(".order"), documents(".tray ul")].join("\n");

element.addEventListener("pointerdown", event => {
  const card = event.target.closest(".card");
  const grip = event.target.closest(".grip");
  if (!card || event.button || event.target.closest(".grade") || card.closest(".removed")) return;
  if (event.pointerType !== "mouse" && !grip) return;  // elsewhere, a finger scrolls
  dragged = card.closest("li");
  before = order();
  dragged.classList.add("dragged");
  card.querySelector(".grip").focus({ preventScroll: true });
  element.setPointerCapture(event.pointerId);
  event.preventDefault();
});

element.addEventListener("pointermove", event => {
  if (!dragged) return;
  if (event.clientY > find(".tray").getBoundingClientRect().top) return find(".tray ul").append(dragged);
  const rows = [...element.querySelectorAll(".order > li")].filter(li => li !== dragged);
  const next = rows.find(li => { const box = li.getBoundingClientRect(); return event.clientY < box.top + box.height / 2; });
  find(".order").insertBefore(dragged, next || null);
});

const drop = () => {
  if (!dragged) return;
  dragged.classList.remove("dragged");
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
  if (grade) trigger("grade", { document: grade.closest("li").dataset.document });
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
