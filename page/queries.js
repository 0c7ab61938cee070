// A query that is chosen is shown; one of its rankings opens in the tab of one ranking.
element.addEventListener("click", event => {
  const chosen = event.target.closest("[data-query]");
  if (!chosen) return;
  const runs = JSON.parse(chosen.closest("[data-runs]").dataset.runs);
  ask(chosen.matches("tr") ? "choose" : "open", { query: chosen.dataset.query, runs });
  for (const row of element.querySelectorAll("tr[data-query]")) row.classList.toggle("chosen", row === chosen);
});
