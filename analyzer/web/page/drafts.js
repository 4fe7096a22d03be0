// Drafts of rules: what was typed, for each rule and case, kept in this window over a reload.
const KEY = "backline-drafts";
const MOST = 20; // the oldest goes

const read = () => { try { return JSON.parse(sessionStorage.getItem(KEY) ?? "[]"); } catch { return []; } };

function write(drafts) {
  try { sessionStorage.setItem(KEY, JSON.stringify(drafts.slice(-MOST))); } catch { /* no room: the text stays in its field */ }
}

const others = (rule, on) => read().filter((one) => one.rule !== rule || one.on !== on);

/** The text that was typed for a rule over a case; undefined for none. */
export const draftOf = (rule, on) => read().find((one) => one.rule === rule && one.on === on)?.text;

export const keep = (rule, on, text) => write([...others(rule, on), { rule, on, text }]);

export const drop = (rule, on) => write(others(rule, on));
