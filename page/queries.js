// What is pressed in the results of runs: a query, one of its rankings, a run, a field, or what a warning offers.
element.addEventListener("click", event => {
  const { offer, choose, value } = event.target.closest("button")?.dataset ?? {};
  if (offer) return ask("offer", { name: offer, choice: value });
  if (choose) return ask("choose", { name: choose, choice: value });
  const chosen = event.target.closest("[data-query]");
  if (!chosen) return;
  const { runs, measure } = chosen.closest("[data-runs]").dataset;
  ask(chosen.matches("li") ? "query" : "open", { query: chosen.dataset.query, runs: JSON.parse(runs), measure });
  for (const row of element.querySelectorAll("li[data-query]")) row.classList.toggle("chosen", row === chosen);
});
element.addEventListener("change", event => {
  const { choose } = event.target.dataset;
  if (choose) ask("choose", { name: choose, choice: event.target.value });
});
// Gradio writes what a field begins with, not what it holds.
watch("value", () => { for (const each of element.querySelectorAll("select")) each.value = each.dataset.chosen; });
