// What the engineer gives: dropped files and folders, chosen ones, pasted text, a path on this machine.
import { $, bytes, count, many, say, write } from "./dom.js";

/** One file to send: `name` is its path below what was dropped. */
const piece = (file, name) => ({ file, name, size: file.size, modified: file.lastModified / 1000 });

// --- dropped: folders are walked, thousands of files, one after the other --------
async function entriesOf(reader) {
  const found = [];
  for (;;) {
    // A reader gives at most 100 entries at a time, and none at the end.
    const some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
    if (!some.length) return found;
    found.push(...some);
  }
}

async function walk(entry, into) {
  const path = entry.fullPath.replace(/^\//, "") || entry.name;
  if (entry.isFile) {
    try {
      into.pieces.push(piece(await new Promise((resolve, reject) => { entry.file(resolve, reject); }), path));
    } catch {
      into.unreadable.push(path);
    }
    if (into.pieces.length % 500 === 0) say(`${count(into.pieces.length)} files found so far`);
    return;
  }
  let inside = [];
  try {
    inside = await entriesOf(entry.createReader());
  } catch {
    into.unreadable.push(path);
  }
  if (!inside.length) into.empty.push(path);
  for (const one of inside) await walk(one, into);
}

/** Return everything of a DataTransfer: { name, pieces, empty, unreadable }. Must be called inside the event. */
export async function gathered(transfer) {
  const into = { name: "", pieces: [], empty: [], unreadable: [] };
  // The list is emptied when the event ends: entries and files are taken before the first wait.
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const taken = items.map((item) => ({ entry: item.webkitGetAsEntry?.() ?? null, file: item.getAsFile() }));
  for (const { entry, file } of taken) {
    if (entry) await walk(entry, into);
    else if (file) into.pieces.push(piece(file, file.name));
  }
  into.name = nameOf(into.pieces) || (taken.length === 1 ? taken.map(({ entry, file }) => entry?.name ?? file?.name ?? "")[0] : "");
  return into;
}

export const chosen = (files) => {
  const pieces = [...files].map((file) => piece(file, file.webkitRelativePath || file.name));
  return { name: nameOf(pieces), pieces, empty: [], unreadable: [] };
};

export const pasted = (text, name) => {
  const file = new File([text], name, { type: "text/plain" });
  return { name: name.replace(/\.txt$/, ""), pieces: [piece(file, name)], empty: [], unreadable: [] };
};

/** A case is called after the only thing dropped; of several the server knows better: the host, once it is read. */
function nameOf(pieces) {
  const tops = new Set(pieces.map(({ name }) => name.split("/")[0]));
  const [only = ""] = tops;
  return tops.size === 1 ? only.replace(/\.(tgz|tar\.gz|tar|zip|gz|csv|txt|log)$/i, "") || only : "";
}

const WHAT = "bundles, logs, esxtop CSV, transcripts, or a whole folder";

// --- the window takes drops everywhere --------------------------------------------
export function takeDrops(give) {
  let depth = 0;
  const over = $("over");
  const isFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const leave = () => { depth = 0; over.hidden = true; $("zone").classList.remove("over"); };
  addEventListener("dragenter", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    depth += 1;
    over.hidden = false;
    $("zone").classList.add("over");
  });
  addEventListener("dragover", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  });
  addEventListener("dragleave", () => { depth -= 1; if (depth <= 0) leave(); });
  addEventListener("drop", async (event) => {
    leave();
    if (!isFiles(event)) return;
    event.preventDefault();
    const going = gathered(event.dataTransfer);
    write($("zone-what"), "Looking at what was dropped …");
    const given = await going;
    write($("zone-what"), WHAT);
    give(given);
  });
}

export function takeChoices(give) {
  for (const [button, input] of [["pick-files", "files"], ["pick-folder", "folder"]]) {
    $(button).addEventListener("click", () => $(input).click());
    $(input).addEventListener("change", () => {
      if ($(input).files.length) give(chosen($(input).files));
      else if (input === "folder") say("The folder holds no file");
      $(input).value = "";
    });
  }
}

// --- pasted -------------------------------------------------------------------------
export function takePastes(give) {
  const dialog = $("pasted");
  const field = $("pasted-text");
  const size = () => write($("pasted-size"), field.value ? `${many(field.value.split("\n").length, "line")}, ${bytes(new Blob([field.value]).size)}` : "");
  const open = (text) => {
    const stamp = new Date().toISOString().slice(0, 16).replace(/[T:]/g, "-");
    $("pasted-name").value = `pasted-${stamp}.txt`;
    field.value = text;
    size();
    dialog.showModal();
    (text ? $("pasted-go") : field).focus();
  };
  field.addEventListener("input", size);
  $("paste").addEventListener("click", () => open(""));
  $("pasted-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.value !== "case") { dialog.close(); return; }
    if (!field.value.trim()) { write($("pasted-size"), "There is no text yet: paste it into the field."); field.focus(); return; }
    dialog.close();
    give(pasted(field.value, $("pasted-name").value.trim() || "pasted.txt"));
  });
  addEventListener("paste", async (event) => {
    if (event.target.closest?.("input, textarea, dialog") || dialog.open) return;
    const transfer = event.clipboardData;
    if ([...transfer.items].some((item) => item.kind === "file")) {
      event.preventDefault();
      give(await gathered(transfer));
    } else if (transfer.getData("text/plain").trim()) {
      event.preventDefault();
      open(transfer.getData("text/plain"));
    }
  });
}
