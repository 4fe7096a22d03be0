// The name of a case and its SR number: asked for in a window, kept by the server, shown wherever the case is.
import { $, say, write } from "./dom.js";
import { ask } from "./link.js";
import { get, put } from "./cases.js";

let asked = ""; // the case that is renamed

/** Open the window with what the case has now. */
export function open(id) {
  const one = get(id);
  if (!one) return;
  asked = id;
  $("rename-name").value = one.own_name ?? one.name;
  $("rename-sr").value = one.sr ?? "";
  $("rename-stored").hidden = !one.stored;
  write($("rename-said"), "");
  $("rename").showModal();
  $("rename-name").select();
}

async function rename(event) {
  event.preventDefault();
  const [name, sr] = [$("rename-name").value, $("rename-sr").value];
  $("rename-go").disabled = true;
  try {
    const one = put(await ask("POST", `/cases/${asked}/name`, { name, sr }));
    $("rename").close();
    say(`The case is "${one.name}" now`);
  } catch (error) {
    const { what, why, do: todo } = error.parts ?? { what: String(error) };
    const said = [what, why, todo].filter(Boolean).join(". ");
    write($("rename-said"), `${said[0].toUpperCase()}${said.slice(1)}`);
    (name.trim() ? $("rename-sr") : $("rename-name")).focus();
  } finally {
    $("rename-go").disabled = false;
  }
}

export function bind() {
  $("rename-form").addEventListener("submit", rename);
  $("rename-close").addEventListener("click", () => $("rename").close());
}
