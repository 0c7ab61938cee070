// The cards of a ranking move by mouse, touch and keys. While one is held, its order is summed
// here, from gains and discounts of the metric; once it is let go, the metric scores it.
const find = where => document.querySelector(`.figure ${where}`);
const findAll = where => [...document.querySelectorAll(`.figure ${where}`)];
const ranked = () => findAll(".left > li");
const drawn = rows => rows.filter(row => !row.matches(".folded-away"));
const live = () => JSON.parse(document.querySelector(".figure").dataset.live);

const text = (number, digits = 3) => {
  const plain = Math.abs(number) < 1e5 ? number.toFixed(digits) : number.toExponential(digits);
  return (Number(plain) === 0 ? plain.replace("-", "") : plain).replace("-", "−");
};
const write = (where, words) => { if (where) where.textContent = words; };

// The discount of each place of an order; documents with the same score share theirs.
globalThis.discountsOf = (scores, cutoff, { discounts, averages }) => {
  const counted = scores.map((_, place) => (place < cutoff ? discounts[place] : 0));
  const shared = [];
  for (let first = 0, end; first < scores.length; first = end) {
    end = first + 1;
    while (averages && scores[first] !== "" && scores[end] === scores[first]) end++;
    const mean = counted.slice(first, end).reduce((sum, discount) => sum + discount, 0) / (end - first);
    for (let place = first; place < end; place++) shared.push({ discount: mean, first, end });
  }
  return shared;
};

// Draw the order that is held: bars, numbers, the scale and the lines move together.
const draw = (held, k = held.cutoff ?? Infinity) => {
  const rows = ranked();
  const isKnown = held.count === null || held.count === rows.length;
  document.querySelector(".figure").classList.toggle("unsummed", !isKnown);
  drawLines(rows);
  const shared = discountsOf(rows.map(row => row.dataset.score), k, held);
  let dcg = 0;
  rows.forEach((row, place) => {
    const { discount, first, end } = shared[place], isTied = end - first > 1;
    row.classList.toggle("tied", isTied);
    write(row.querySelector(".rank"), isTied ? `${first + 1}–${end}` : `${place + 1}`);
    write(row.querySelector(".discount"), text(discount));
    dcg += drawBar(row, discount, held);
  });
  if (!isKnown) return;
  findAll(".right > li").forEach((row, place) => drawBar(row, place < k ? held.discounts[place] : 0, held));
  const ideal = held.ideals[Math.min(k, held.ideals.length) - 1];
  if (!find(".scale") || ideal <= 0) return;
  for (const sum of findAll(".dcg")) write(sum, text(dcg));
  for (const sum of findAll(".ideal-sum")) write(sum, text(ideal));
  write(find(".value"), text(dcg / ideal));
  moveMark(dcg / ideal);
  const by = dcg / ideal - held.before;
  write(find(".change"), Math.abs(by) < 5e-4 ? "" : `${by < 0 ? "−" : "+"}${text(Math.abs(by))}`);
};

// Draw what a document adds, and return it.
const drawBar = (row, discount, held) => {
  const added = row.dataset.gain * discount;
  write(row.querySelector(".added"), text(added));
  row.querySelector(".bar i").style.width = `${100 * discount / held.steepest}%`;
  row.querySelector(".bar b").style.width = `${100 * Math.max(0, added) / held.widest}%`;
  return added;
};

const moveMark = score => {
  const { low, high } = find(".scale").dataset;
  const share = (score - low) / (high - low);
  find(".yours").style.left = `${100 * share}%`;
  find(".yours").classList.toggle("near-end", share > .6);
};

// The lines, and the ideal order: in it, documents of the same gain keep the order of the cards.
const drawLines = rows => {
  const ranks = new Map(rows.map((row, place) => [row.dataset.at, place]));
  const ideal = findAll(".right > li");
  const place = item => ranks.get(item.dataset.at) ?? rows.length;
  const count = drawn(ideal).length;
  const best = [...ideal].sort((one, other) => other.dataset.gain - one.dataset.gain || place(one) - place(other));
  if (best.some((item, at) => item !== ideal[at])) find(".right").append(...best);
  best.forEach((item, at) => item.classList.toggle("folded-away", at >= count));
  const [places, others] = [rows, best].map(every => new Map(drawn(every).map((row, at) => [row.dataset.at, at])));
  for (const line of findAll(".lines line")) {
    const left = places.get(line.dataset.at), right = others.get(line.dataset.at);
    line.toggleAttribute("hidden", left === undefined && right === undefined);
    line.setAttribute("x1", left === undefined ? .75 : 0);
    line.setAttribute("x2", right === undefined ? .25 : 1);
    line.setAttribute("y1", (left ?? right ?? -1) + .5);
    line.setAttribute("y2", (right ?? left ?? -1) + .5);
    line.classList.toggle("level", left === right);
  }
};

// Rows that make way glide there, unless the reader wants no motion.
const moving = alter => {
  const tops = new Map(ranked().map(row => [row, row.offsetTop]));
  alter();
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const row of ranked()) {
    const by = (tops.get(row) ?? row.offsetTop) - row.offsetTop;
    if (by && !row.matches(".dragged")) row.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], 150);
  }
};

const begin = () => ({ ...live(), before: Number(find(".value").textContent.replace("−", "-")) });
const orderOf = rows => rows.map(row => Number(row.dataset.at));
const sendOrder = moved => {
  const rows = ranked(), order = orderOf(rows);
  moved.dataset.moved = "1";
  const isBegun = order.join() === live().base.join();
  const marks = rows.map(row => `${Number(row.dataset.at) + 1}${row.dataset.moved ? "*" : ""}`);
  change({ order: isBegun ? "" : marks.join() || "-" });
};

// A card by mouse, or by a finger on its grip: elsewhere, a finger scrolls.
let dragged = null;
document.addEventListener("pointerdown", event => {
  const card = event.target.closest("button.card"), cut = event.target.closest(".cut");
  if (event.button || event.target.closest(".grade")) return;
  if (cut) dragged = { cut, held: begin(), move: moveCut, drop: dropCut };
  else if (card && (event.pointerType === "mouse" || event.target.closest(".grip"))) {
    const row = card.closest("li");
    const hold = event.clientY - row.getBoundingClientRect().top;
    dragged = { row, card, hold, held: begin(), order: orderOf(ranked()).join(), move: moveCard, drop: dropCard };
    row.classList.add("dragged");
    card.focus({ preventScroll: true });
  } else return;
  isHeld = true;
  document.documentElement.setPointerCapture(event.pointerId);
  event.preventDefault();
});
document.addEventListener("pointermove", event => dragged?.move(event));
document.addEventListener("pointerup", () => {
  const ended = letGo();
  ended?.drop(ended);
});
const letGo = () => {
  const ended = dragged;
  dragged = null;
  isHeld = false;
  return ended;
};
// A drag that is broken off changes nothing: the server has the figure as it was.
const breakOff = () => { if (letGo()) go(wanted, false); };
document.addEventListener("pointercancel", breakOff);
document.addEventListener("keydown", event => { if (event.key === "Escape") breakOff(); });

const moveCard = ({ clientY }) => {
  const { row, card, hold, held } = dragged, tray = find(".tray"), list = find(".left");
  const isInTray = !tray.hidden && clientY > tray.getBoundingClientRect().top;
  const top = list.getBoundingClientRect().top;
  const rows = ranked();
  const under = drawn(rows).find(other => clientY < top + other.offsetTop - list.offsetTop + other.offsetHeight);
  // the card takes the place of the one under it: on its way down, it comes after that one
  const isDown = rows.includes(row) && rows.indexOf(row) < rows.indexOf(under);
  const next = isDown ? under.nextElementSibling : under;
  const isThere = isInTray ? row.parentElement !== list : under === row || (row.parentElement === list && row.nextElementSibling === (next ?? null));
  if (!isThere) {
    moving(() => (isInTray ? find(".tray ul").append(row) : list.insertBefore(row, next ?? null)));
    draw(held);
  }
  card.style.transform = "";
  card.style.transform = `translateY(${clientY - hold - row.getBoundingClientRect().top}px)`;
};
const dropCard = ({ row, card, order }) => {
  row.classList.remove("dragged");
  card.style.transform = "";
  write(find(".change"), "");
  if (orderOf(ranked()).join() !== order) sendOrder(row);
  else late?.();
};

const moveCut = ({ clientY }) => {
  const list = find(".left").getBoundingClientRect(), size = drawn(ranked()).length;
  const k = Math.max(1, Math.min(size, Math.round((clientY - list.top) / (list.height / size))));
  if (k === dragged.k) return;
  dragged.k = k;
  dragged.cut.style.setProperty("--cut", k);
  write(dragged.cut.querySelector("span"), `top ${k}`);
  write(find(".measure span"), `nDCG@${k}`);
  document.querySelector(".figure").classList.add("cutting");
  draw(dragged.held, k);
};
const dropCut = ({ k }) => {
  write(find(".change"), "");
  if (k) change({ k: `${k}` });
  else late?.();
};

document.addEventListener("keydown", event => {
  const cut = event.target.closest?.(".cut");
  if (cut) moveCutByKey(event, cut);
  const card = event.target.closest?.(".figure button.card");
  if (!card) return;
  const row = card.closest("li"), list = find(".left"), tray = find(".tray ul");
  const isMissed = row.parentElement === tray;
  const moves = {
    ArrowUp: () => (isMissed ? list.append(row) : row.previousElementSibling?.before(row)),
    ArrowDown: () => !isMissed && (row.nextElementSibling ? row.nextElementSibling.after(row) : null),
    Home: () => list.prepend(row),
    End: () => list.append(row),
    Delete: () => tray.append(row),
  };
  if (/^\d$/.test(event.key)) grade(row, event.key);
  if (!moves[event.key]) return;
  event.preventDefault();
  const before = orderOf(ranked()).join();
  moving(moves[event.key]);
  if (row.parentElement === tray) find(".tray").hidden = false;
  card.focus();
  if (orderOf(ranked()).join() === before) return;
  draw(begin());
  write(find(".change"), "");
  const place = row.parentElement === tray ? "not retrieved" : `rank ${row.querySelector(".rank").textContent}`;
  said.textContent = `${card.title}: ${place}`;
  sendOrder(row);
});

const moveCutByKey = (event, cut) => {
  const size = ranked().length, k = Number(cut.getAttribute("aria-valuenow"));
  const next = { ArrowUp: k - 1, ArrowLeft: k - 1, ArrowDown: k + 1, ArrowRight: k + 1, Home: 1, End: size }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  if (next >= 1 && next <= size) change({ k: `${next}` });
};

// A dot sets its own value or, where that is set, one less; by keys, after the highest comes 0.
const grade = (row, relevance) => {
  const dots = [...row.querySelectorAll(".grade i")];
  dots.forEach((dot, at) => dot.classList.toggle("on", at < relevance));
  const grades = wanted.get("grade"), one = `${Number(row.dataset.at) + 1}:${relevance}`;
  change({ grade: grades ? `${grades},${one}` : one });
};
document.addEventListener("click", event => {
  const card = event.target.closest(".figure button.card"), isByKeys = event.detail === 0;
  const dots = event.target.closest(".grade");
  if (!card || !(isByKeys || dots)) return;
  const row = card.closest("li"), circles = [...card.querySelectorAll(".grade i")];
  const { labels, highest } = document.querySelector(".figure").dataset, words = JSON.parse(labels);
  const relevance = card.querySelector(".grade").textContent.trim();
  if (words.length) return grade(row, words[(words.indexOf(relevance) + 1) % words.length]);
  const now = circles.length ? circles.filter(dot => dot.matches(".on")).length : Number(relevance) || 0;
  if (isByKeys || !circles.length) return grade(row, now >= (Number(highest) || 3) ? 0 : now + 1);
  const left = dot => dot.getBoundingClientRect().left - 2;
  const pressed = 1 + circles.findLastIndex((dot, at) => !at || event.clientX >= left(dot));
  grade(row, pressed === now ? pressed - 1 : pressed);
});
