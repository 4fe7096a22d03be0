// Sending files: one PUT a file, two at a time over all cases, in the order in which they were dropped.
import { below, gone, told, Told } from "./link.js";

const AT_ONCE = 2;
const SPAN = 5000; // milliseconds over which the rate is measured
const line = [];
let running = 0;

/** Files of one case on their way. `changed` is called often; `ended` once, with an error or null. */
export class Sending {
  /** `first` is the number of the first of `pieces` in its case. */
  constructor(id, pieces, first, changed, ended) {
    Object.assign(this, { id, changed, ended });
    this.pieces = [];
    this.total = 0;
    this.held = 0; // more files are being announced
    this.done = 0; // bytes of files that are whole
    this.files = 0;
    this.part = new Map(); // number -> bytes of files on their way
    this.next = 0;
    this.open = new Set();
    this.over = false;
    this.seen = [];
    this.name = "";
    line.push(this);
    this.add(pieces, first);
  }

  /** Send these as well. */
  add(pieces, first) {
    for (const [index, piece] of pieces.entries()) {
      this.pieces.push({ ...piece, number: first + index });
      this.total += piece.size;
    }
    pump();
  }

  /** Do not end before `release`: more files are being announced. */
  hold() { this.held += 1; }

  release() {
    this.held -= 1;
    this.check();
  }

  get sent() {
    let sum = this.done;
    for (const part of this.part.values()) sum += part;
    return Math.min(sum, this.total);
  }

  get started() { return this.next > 0; }

  /** Bytes a second, lately; 0 when not known yet. */
  get rate() {
    const now = performance.now();
    while (this.seen.length > 2 && now - this.seen[0][0] > SPAN) this.seen.shift();
    if (this.seen.length < 2) return 0;
    const [[from, had], [to, has]] = [this.seen[0], this.seen.at(-1)];
    return to - from < 300 ? 0 : ((has - had) * 1000) / (to - from);
  }

  stop() { this.finish(null, true); }

  finish(error, silent = false) {
    if (this.over) return;
    this.over = true;
    line.splice(line.indexOf(this), 1);
    for (const request of this.open) request.abort();
    if (!silent) this.ended(error);
    pump();
  }

  start() {
    const { file, name, size, number } = this.pieces[this.next];
    this.next += 1;
    this.name = name;
    const request = new XMLHttpRequest();
    const close = () => { running -= 1; this.open.delete(request); this.part.delete(number); };
    request.open("PUT", below(`/cases/${this.id}/files/${number}`));
    request.setRequestHeader("X-Backline-Told", "yes");
    request.upload.onprogress = (event) => this.note(number, event.loaded);
    request.onload = () => {
      close();
      const status = Number(request.getResponseHeader("X-Backline-Status")) || request.status;
      if (status < 300) this.whole(size);
      else this.finish(new Told(status, told(parsed(request.responseText), status)));
      pump();
    };
    request.onerror = () => { close(); cut(file).then((error) => this.finish(error)); };
    request.onabort = () => { close(); pump(); };
    running += 1;
    this.open.add(request);
    request.send(file);
  }

  note(number, loaded) {
    this.part.set(number, loaded);
    this.seen.push([performance.now(), this.sent]);
    this.changed();
  }

  whole(size) {
    this.done += size;
    this.files += 1;
    this.seen.push([performance.now(), this.sent]);
    this.changed();
    this.check();
  }

  check() {
    if (!this.held && this.files === this.pieces.length) this.finish(null);
  }
}

function pump() {
  while (running < AT_ONCE) {
    const sending = line.find((one) => one.next < one.pieces.length);
    if (!sending) return;
    sending.start();
  }
}

/** Which cases are sent before this one. */
export const before = (sending) => line.slice(0, Math.max(0, line.indexOf(sending)));
export const sendingNow = () => line.length;

function parsed(text) {
  try { return JSON.parse(text); } catch { return {}; }
}

/** Say why a file could not be sent: the file changed or went away, or the line was cut. */
async function cut(file) {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    return new Told(0, {
      what: "A file can no longer be read", where: file.name,
      why: "it was changed, moved or removed after it was dropped, or it is not a file",
      do: "Drop it again.",
    });
  }
  const answer = await fetch(below("/cases")).catch(() => null);
  if (!answer) return gone("The upload was interrupted: the server does not answer");
  return new Told(0, { what: "The upload was interrupted", why: "the connection broke", do: "Try again." });
}
