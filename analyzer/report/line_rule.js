// A rule from a line: at a line of evidence or of the log, the command that drafts one, to copy.
// A page around this one that has the files of the case shows the draft itself. Nothing here writes markup.
"use strict";
(() => {
  const ADDRESS = /:\d+$/;
  const root = document.documentElement;
  let opener = null;
  let asks = 0; // number of the draft that is waited for
  let address = "";

  // As a shell takes it, whatever signs the names of a customer have.
  const quote = (text) => (/^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  function make(tag, parts = {}, ...children) {
    const made = Object.assign(document.createElement(tag), parts);
    made.append(...children);
    return made;
  }

  const command = make("code");
  const copying = make("button", { type: "button", className: "copy", textContent: "Copy" });
  copying.setAttribute("aria-label", "Copy the command");
  const note = make("p", { className: "note" });
  const draft = make("pre", { tabIndex: 0, hidden: true });
  draft.setAttribute("aria-label", "The drafted rule");
  const drafting = make("button", { type: "button", textContent: "Show the draft", hidden: true });
  const closing = make("button", { type: "button", textContent: "Close" });
  const title = make("h2", { id: "h-line-rule", textContent: "A rule from this line" });
  const said = make("p", { className: "note" });
  said.setAttribute("role", "status");
  const box = make("section", { id: "line-rule", hidden: true, tabIndex: -1 }, title,
    make("p", { className: "copyable" }, command, copying), note, make("p", {}, drafting, " ", closing), said, draft);
  box.setAttribute("aria-labelledby", title.id);
  (document.querySelector("main") ?? document.body).append(box);

  function open(button, place) {
    [opener, address] = [button, place];
    asks += 1;
    command.textContent = `backline rules new my-rule --from-lines ${quote(place)}`;
    const bundle = place.includes("!") ? place.split("!")[0] : "";
    note.textContent = `Run it where ${bundle ? `"${bundle}"` : "the file"} lies, or put its path behind. It masks names, adds examples, and says how many lines match.`;
    said.textContent = "";
    draft.hidden = true;
    drafting.hidden = root.dataset.log !== "live";
    drafting.disabled = false;
    box.hidden = false;
    copying.focus();
  }

  function close() {
    asks += 1; // a draft that still comes is not waited for any more
    box.hidden = true;
    opener?.focus();
  }

  function ask() {
    asks += 1;
    drafting.disabled = true;
    said.textContent = "Reading the case and drafting the rule …";
    parent.postMessage({ backline: "draft", address, ask: asks }, "*");
  }

  addEventListener("message", (event) => {
    const { backline, ask: number, text, failed } = event.data ?? {};
    if (event.source !== parent || parent === window || backline !== "draft" || number !== asks) return;
    drafting.disabled = false;
    said.textContent = failed ? `Not drafted: ${failed}` : "Read it before you use it: it is a start, not a rule yet.";
    draft.textContent = text ?? "";
    draft.hidden = !text;
    if (text) draft.focus();
  });

  function offer(beside, place) {
    if (!ADDRESS.test(place)) return;
    const button = make("button", { type: "button", className: "copy line-rule", textContent: "Rule" });
    button.setAttribute("aria-label", `Draft a rule from ${place.slice(-60)}`);
    button.title = "Draft a rule from this line";
    beside.append(" ", button);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.line-rule");
    if (button) open(button, wholeAddress(button.parentElement.querySelector("code, .place")?.textContent.trim() ?? ""));
  });
  drafting.addEventListener("click", ask);
  closing.addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || box.hidden) return;
    event.stopImmediatePropagation(); // the box alone is closed
    close();
  }, true);

  for (const copyable of document.querySelectorAll(".evidence figcaption .copyable")) offer(copyable, copyable.querySelector("code").textContent.trim());

  // Lines of the log come and go: theirs are made when the list is shown.
  const lines = document.querySelector("#log tbody");
  function complete() {
    for (const place of lines.querySelectorAll("small:not([data-rule])")) {
      place.dataset.rule = "yes";
      const text = place.textContent.trim();
      place.title = wholeAddress(text);
      place.replaceChildren(make("span", { className: "place", textContent: text }));
      offer(place, wholeAddress(text));
    }
  }
  if (lines) {
    complete();
    new MutationObserver(complete).observe(lines, { childList: true });
  }
})();
