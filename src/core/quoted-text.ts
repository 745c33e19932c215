/** Headings that a hand-over may have inside of a batch; nobody else's text may begin a line with them. */
export const HAND_OVER_HEADINGS = [
  '## Earlier summary',
  '## Requests and how they ended',
  '## Where it stands',
  '## Findings',
  '## Files',
  '## Commands',
  '## Details',
] as const;

/**
 * Text that is not ours (a transcript's, a model's answer), made safe to stand in a clip-archive. A line that begins like our own structure
 * gets a backslash: `\## Files`, `\[Batch 1 — …`. Control characters become visible, characters that hide or reorder text are dropped.
 * Quoting twice changes nothing, and neither does quoting text that has nothing of the kind.
 */
export function quoteText(text: string): string {
  return showHidden(text).replace(STRUCTURE, '$1\\');
}

/** The same for the content of a batch, which may hold the headings of a hand-over as they are. */
export function quoteBatch(content: string): string {
  return showHidden(content).replace(STRUCTURE, (blank: string, _: string, at: number, whole: string) =>
    blank === '' && isHandOverHeading(whole, at) ? '' : `${blank}\\`,
  );
}

const MAX_LABEL_CHARS = 80;

/** A name in a line of ours: one short line without the brackets that could end it. */
export function quoteLabel(name: string): string {
  const line = showHidden(name)
    .replace(/\s+/gu, ' ')
    .replace(/[[［]/gu, '(')
    .replace(/[\]］]/gu, ')')
    .trim();
  return showHidden(Array.from(line).slice(0, MAX_LABEL_CHARS).join('')).trim();
}

// White space of any kind, short of what JavaScript takes for the end of a line; U+2800 looks blank.
const BLANK = '[[\\s\\u2800]--[\\n\\r\\u2028\\u2029]]*';
const FORMS = [
  'context\\s+summary',
  'batch',
  'archive',
  'depth:',
  '\\.\\.',
  '…',
  ...['user', 'assistant', 'system', 'tool'].map((role) => `${role}(?![\\p{L}\\p{N}_])`),
];
/** A heading (`## x`, `# x`, `##`), or one of our forms in brackets; their full-width twins too. */
const STRUCTURE = new RegExp(`^(${BLANK})(?=[#＃﹟](?:[#＃﹟]|\\s|$)|[\\[［]\\s*(?:${FORMS.join('|')}))`, 'gimv');

function isHandOverHeading(text: string, at: number): boolean {
  return HAND_OVER_HEADINGS.some(
    (heading) =>
      text.startsWith(heading, at) && /^(?:\n|$)/u.test(text.slice(at + heading.length, at + heading.length + 1)),
  );
}

function showHidden(text: string): string {
  return text.replace(HIDDEN, '').replace(CONTROL, showControl).replace(ATTACHED, keepAttached);
}

/** Joiners and selectors of a variant, which emoji and many scripts are written with. */
const ATTACHED_CLASS = String.raw`[\u034f\u115f\u1160\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`;
const ATTACHED = new RegExp(`${ATTACHED_CLASS}+`, 'gv');
/** What no reader sees: tag characters, marks of direction, zero-width spaces. */
const HIDDEN = new RegExp(String.raw`[[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--${ATTACHED_CLASS}]`, 'gv');

/** All but tab and the ends of lines. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]/g;

/** Control characters as Unicode's pictures of them: one character each, so that lengths stay. */
function showControl(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return code === 0x85 ? '\u2424' : '\ufffd';
}

const JOINER = /^[\u200c\u200d]$/;
const PLAIN = /^[\0-\x7f\s]?$/; // oxlint-disable-line no-control-regex

/** One selector behind a letter or an emoji, and one joiner between two of them; more of them, or beside plain text, only hide something. */
function keepAttached(run: string, at: number, text: string): string {
  const [first = '', ...rest] = Array.from(run);
  const last = rest.at(-1) ?? first;
  const next = text.charAt(at + run.length);
  const isBehindPlain = PLAIN.test(text.charAt(at - 1));
  const keepsSelector = !JOINER.test(first) && (!isBehindPlain || next === '\u20e3');
  const keepsJoiner = JOINER.test(last) && !isBehindPlain && !PLAIN.test(next);
  return (keepsSelector ? first : '') + (keepsJoiner ? last : '');
}
