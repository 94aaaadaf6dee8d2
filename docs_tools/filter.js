// a field above each long table of ids, which hides the rows without its text
document.querySelectorAll(".environments table").forEach(table => {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 12) return;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = `Filter ${rows.length} rows`;
  field.setAttribute("aria-label", field.placeholder);
  field.className = "filter";
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    rows.forEach(row => { row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word)); });
  });
  table.closest(".environments").before(field);
});
