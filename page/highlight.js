// what stands for the same thing lights up together
const light = event => {
  const term = event.target.closest("[data-term]")?.dataset.term;
  for (const each of element.querySelectorAll("[data-term]")) each.classList.toggle("lit", each.dataset.term === term);
};
element.addEventListener("pointerover", light);
element.addEventListener("focusin", light);
