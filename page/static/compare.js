// Files go to one zone, by choice, by drop, or as pasted text; a role or a cell is a part of the address.
const sendFiles = async (form, submitter, files = []) => {
  const data = new FormData(form, submitter);
  for (const file of files) data.append("files", file);
  const number = ++asked;
  const count = data.getAll("files").filter(file => file.name).length;
  lastChange = 0;
  document.querySelector(".zone").classList.add("busy");
  document.body.classList.add("late");
  if (count > 1) remark(`Comparing ${count} files … The result below is the one before.`, "status");
  else remark("Comparing … The result below is the one before.", "status");
  try {
    const answer = await fetch(form.action, { method: "POST", body: data });
    if (number === asked) show(await answer.text(), answer.ok);
  } catch (error) {
    remark("The server did not answer. The files were not added; try it again.");
  }
  document.querySelector(".zone")?.classList.remove("busy");
  if (number === asked) document.body.classList.remove("late");
};

document.addEventListener("submit", event => {
  if (!event.target.matches(".zone")) return;
  event.preventDefault();
  sendFiles(event.target, event.submitter);
});

document.addEventListener("change", event => {
  const { choose } = event.target.dataset;
  if (event.target.matches(".zone input[type=file]")) sendFiles(event.target.form);
  if (choose || event.target.matches("[data-go]")) lastChange = 0;  // a step of its own
  if (event.target.matches("[data-go]")) go(event.target.value.slice(1));
  if (choose) change({ [choose]: event.target.value, other: "" });
});

for (const name of ["dragenter", "dragover"]) {
  document.addEventListener(name, event => {
    const zone = document.querySelector(".zone");
    if (!zone || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    zone.classList.add("over");
  });
}
document.addEventListener("dragleave", event => {
  if (!event.relatedTarget) document.querySelector(".zone")?.classList.remove("over");
});
document.addEventListener("drop", event => {
  const zone = document.querySelector(".zone");
  zone?.classList.remove("over");
  if (!zone || !event.dataTransfer.files.length) return;
  event.preventDefault();
  sendFiles(zone, null, event.dataTransfer.files);
});

// The grid is one stop of Tab; arrow keys move within it, Enter and a click open both rankings.
const cells = row => [...row.querySelectorAll("th a, td[data-run]")];
const openCell = cell => {
  lastChange = 0;
  change({ query: cell.closest("tr").dataset.query, other: cell.dataset.run });
};
const prepareGrid = () => {
  const grid = document.querySelector(".grid");
  if (!grid) return;
  grid.setAttribute("role", "grid");
  const rows = [...grid.querySelectorAll("tr[data-query]")];
  for (const row of rows) for (const cell of cells(row)) {
    cell.tabIndex = -1;
    if (cell.matches("td")) cell.setAttribute("role", "gridcell");
  }
  const open = grid.querySelector("td.open") ?? cells(rows[0])[0];
  open.tabIndex = 0;
};
document.addEventListener("click", event => {
  const cell = event.target.closest(".grid td[data-run]");
  if (cell) openCell(cell);
});
document.addEventListener("keydown", event => {
  const cell = event.target.closest?.(".grid :is(th a, td[data-run])");
  if (!cell) return;
  if (event.key === "Enter" && cell.matches("td")) openCell(cell);
  const row = cell.closest("tr"), place = cells(row).indexOf(cell);
  const rowBy = step => {
    const rows = [...document.querySelectorAll(".grid tr[data-query]")];
    const next = rows[rows.indexOf(row) + step];
    return next && cells(next)[place];
  };
  const next = {
    ArrowLeft: () => cells(row)[place - 1], ArrowRight: () => cells(row)[place + 1],
    ArrowUp: () => rowBy(-1), ArrowDown: () => rowBy(1),
    Home: () => cells(row)[0], End: () => cells(row).at(-1),
  }[event.key]?.();
  if (!next) return;
  event.preventDefault();
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});
document.addEventListener("shown", prepareGrid);
prepareGrid();
