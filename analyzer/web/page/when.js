// When the trouble of a case was: asked for in a window, kept by the server, which makes the report anew around it.
import { $, say, write } from "./dom.js";
import { ask } from "./link.js";
import { get, put } from "./cases.js";

let asked = ""; // the case that is asked about

/** A time as people read and type it. */
export const readable = (time) => time.replace("T", " ").replace(/(:\d\d)?Z?$/, (seconds) => (seconds.startsWith(":00") || seconds === "Z" ? "" : seconds.replace("Z", "")));

/** Open the window with the time that the case has now. */
export function open(id) {
  const one = get(id);
  if (!one) return;
  asked = id;
  $("when-time").value = readable(one.incident ?? "");
  write($("when-said"), "");
  $("when").showModal();
  $("when-time").select();
}

async function change(event) {
  event.preventDefault();
  const incident = $("when-time").value;
  $("when-go").disabled = true;
  try {
    const one = put(await ask("POST", `/cases/${asked}/incident`, { incident }));
    $("when").close();
    say(one.incident ? `The report is made anew around ${readable(one.incident)} UTC` : "The report is made anew without a time of the trouble");
  } catch (error) {
    const { what, why, do: todo } = error.parts ?? { what: String(error) };
    const said = [what, why, todo].filter(Boolean).join(". ");
    write($("when-said"), `${said[0].toUpperCase()}${said.slice(1)}`);
    $("when-time").focus();
  } finally {
    $("when-go").disabled = false;
  }
}

export function bind() {
  $("when-form").addEventListener("submit", change);
  $("when-close").addEventListener("click", () => $("when").close());
}
