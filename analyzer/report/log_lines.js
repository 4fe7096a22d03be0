// The drawer with the lines of the logs: those around the moment of a link, filtered by text, host and log.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const part = $("log");
  if (!part) return; // no line was kept: the command beside a finding is all there is
  const AROUND = 300; // seconds, as the text beside the link says
  const rows = [...part.querySelectorAll("tr[data-when]")];
  const usual = $("log-said").textContent;
  let moment = null;
  let opener = null;

  function filter() {
    const words = $("log-q").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [host, log] = [$("log-host").value, $("log-name").value];
    let shown = 0;
    let nearest = null;
    for (const row of rows) {
      const far = moment === null ? 0 : Math.abs(Number(row.dataset.when) - moment);
      const text = words.length ? row.textContent.toLowerCase() : "";
      row.hidden = far > (moment === null ? 0 : AROUND) || (host && row.dataset.host !== host) ||
        (log && row.dataset.log !== log) || !words.every((word) => text.includes(word));
      row.classList.remove("moment");
      if (row.hidden) continue;
      shown += 1;
      if (moment !== null && (!nearest || far < nearest.far)) nearest = { row, far };
    }
    nearest?.row.classList.add("moment");
    const when = moment === null ? "" : `${new Date(moment * 1000).toISOString().replace("T", " ").slice(0, 19)} UTC ±5 min: `;
    $("log-said").textContent = when || shown < rows.length ? `${when}${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} kept lines` : usual;
    return nearest?.row;
  }

  function open(link) {
    opener = link;
    moment = Number(link.dataset.around);
    for (const id of ["log-q", "log-host", "log-name"]) $(id).value = "";
    part.classList.add("drawer");
    $("log-close").hidden = false;
    $("log-box").open = true;
    filter()?.scrollIntoView({ block: "center" });
    part.focus({ preventScroll: true });
  }

  function close() {
    moment = null;
    part.classList.remove("drawer");
    $("log-close").hidden = true;
    filter();
    opener?.focus();
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-around]");
    if (!link) return;
    event.preventDefault();
    open(link);
  });
  for (const id of ["log-q", "log-host", "log-name"]) $(id).addEventListener("input", filter);
  $("log-close").addEventListener("click", close);
  part.addEventListener("keydown", (event) => { if (event.key === "Escape" && moment !== null) close(); });
  addEventListener("beforeprint", () => { if (moment !== null) close(); });
})();
