// The log drawer of a report in place: the report asks for a moment, its lines are read from the files and handed to it.
// A report has an origin of its own and no line to the server. All it can say is a moment or the address of a line, and all it
// gets are lines of its own case, and the draft of a rule from one.
import { bytes, count, many } from "./dom.js";
import { ask, sent, told } from "./link.js";

/** Answer what the report in a frame asks for, until the returned function is called. */
export function serveLog(frame, base) {
  let asked = new AbortController();

  async function answer(event) {
    const { backline, around, ask } = event.data ?? {};
    if (event.source !== frame.contentWindow || backline !== "log" || !Number.isFinite(ask)) return;
    asked.abort(); // of another moment
    if (!Number.isFinite(around)) return;
    const mine = asked = new AbortController();
    const send = (what) => { if (!mine.signal.aborted) frame.contentWindow?.postMessage({ backline: "log", ask, ...what }, "*"); };
    try {
      for await (const line of lines(`${base}/log?around=${around}`, mine.signal)) take(line, send);
    } catch (error) {
      send({ failed: error.parts?.what ?? "The lines cannot be read: the server does not answer." });
    }
  }

  /** The draft of a rule from a line of the case, for the window of the report that asked for it. */
  async function draft(event) {
    const { backline, address, ask: number } = event.data ?? {};
    if (event.source !== frame.contentWindow || backline !== "draft" || !Number.isFinite(number) || typeof address !== "string") return;
    const send = (what) => frame.contentWindow?.postMessage({ backline: "draft", ask: number, ...what }, "*");
    try {
      send({ text: (await ask("POST", `${base}/draft`, { address })).text });
    } catch (error) {
      const { what, why, do: todo } = error.parts ?? { what: "the server does not answer" };
      send({ failed: [what, why, todo].filter(Boolean).join(". ") });
    }
  }

  addEventListener("message", answer);
  addEventListener("message", draft);
  return () => {
    removeEventListener("message", answer);
    removeEventListener("message", draft);
    asked.abort();
  };
}

function take(line, send) {
  if (line.type === "progress") send({ said: [`Reading the logs: ${bytes(line.bytes)}`, line.members ? many(line.members, "member") : ""].filter(Boolean).join(", ") });
  else if (line.type === "lines") send({ lines: line.lines });
  else if (line.state === "done") send({ done: true, said: said(line), notes: line.said.slice(1) });
  else send({ failed: [line.error.what, line.error.why, line.error.do].filter(Boolean).join(". ") });
}

function said({ shown, lines }) {
  if (!lines) return "The logs of this case have no line there.";
  return shown < lines ? `the ${count(shown)} nearest of ${many(lines, "line")}` : many(lines, "line");
}

/** Yield the objects of an answer that comes as lines of JSON. */
async function* lines(path, signal) {
  const { answer, status } = await sent(path, { signal });
  if (status >= 300) throw Object.assign(new Error(), { parts: told(await answer.json().catch(() => ({})), status) });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) yield JSON.parse(part);
  }
}
