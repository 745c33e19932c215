import { lazily } from './lazy.ts';

/** The headings of a hand-over, which may appear in a batch. Quoted text may not begin a line with them. */
export const HAND_OVER_HEADINGS = [
  '## Earlier summary',
  '## Where it stands',
  '## Requests and how they ended',
  '## Decisions and findings',
  '## Files',
  '## Commands',
  '## Details',
] as const;

/**
 * Makes text from elsewhere (a transcript, a model) safe for a clip-archive. Lines that look like our own structure get a backslash: `\##
 * Files`, `\[Batch 1 — …`. Control characters become visible, and characters that hide or reorder text are removed. Quoting twice changes
 * nothing.
 */
export function quoteText(text: string): string {
  const shown = showHidden(text);
  return OPENING.test(shown) ? shown.replace(STRUCTURE(), '$1\\') : shown;
}

/** Does the same for the content of a batch, which may contain the headings of a hand-over. */
export function quoteBatch(content: string): string {
  const shown = showHidden(content);
  if (!OPENING.test(shown)) return shown;
  return shown.replace(STRUCTURE(), (blank: string, _: string, at: number, whole: string) =>
    blank === '' && isHandOverHeading(whole, at) ? '' : `${blank}\\`,
  );
}

const MAX_LABEL_CHARS = 80;

/** Makes a name safe for a label: one short line without brackets, which could end it. */
export function quoteLabel(name: string): string {
  const line = showHidden(name)
    .replace(/\s+/gu, ' ')
    .replace(/[[［]/gu, '(')
    .replace(/[\]］]/gu, ')')
    .trim();
  return showHidden(Array.from(line).slice(0, MAX_LABEL_CHARS).join('')).trim();
}

// White space except what JavaScript treats as a line end. U+2800 looks blank too.
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
/** A heading (`## x`, `# x`, `##`) or one of our bracketed forms, also in full-width characters. */
const STRUCTURE = lazily(
  () => new RegExp(`^(${BLANK})(?=[#＃﹟](?:[#＃﹟]|\\s|$)|[\\[［]\\s*(?:${FORMS.join('|')}))`, 'gimv'),
);
/** Every match of `STRUCTURE` is before one of these. */
const OPENING = /[#＃﹟[［]/;

function isHandOverHeading(text: string, at: number): boolean {
  return HAND_OVER_HEADINGS.some(
    (heading) =>
      text.startsWith(heading, at) && /^(?:\n|$)/u.test(text.slice(at + heading.length, at + heading.length + 1)),
  );
}

function showHidden(text: string): string {
  if (ASCII_TEXT.test(text)) return text;
  return text.replace(HIDDEN(), '').replace(CONTROL, showControl).replace(ATTACHED(), keepAttached);
}

/** Joiners and variation selectors, which emoji and many scripts need. */
const ATTACHED_CLASS = String.raw`[\u034f\u115f\u1160\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`;
const ATTACHED = lazily(() => new RegExp(`${ATTACHED_CLASS}+`, 'gv'));
/** Characters that no reader sees: tags, direction marks, zero-width spaces. */
const HIDDEN = lazily(
  () => new RegExp(String.raw`[[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--${ATTACHED_CLASS}]`, 'gv'),
);
/** Text in which nothing is hidden, like most. */
const ASCII_TEXT = /^[\t\n\r -~]*$/;

/** All control characters except tab and line ends. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]/g;

/** Replaces control characters with Unicode's pictures of them, one for one, so that lengths stay the same. */
function showControl(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return code === 0x85 ? '\u2424' : '\ufffd';
}

const JOINER = /^[\u200c\u200d]$/;
const PLAIN = /^[\0-\x7f\s]?$/; // oxlint-disable-line no-control-regex

/**
 * Keeps one selector after a letter or emoji and one joiner between two of them. More of them, or any next to plain text, would only hide
 * something.
 */
function keepAttached(run: string, at: number, text: string): string {
  const [first = '', ...rest] = Array.from(run);
  const last = rest.at(-1) ?? first;
  const next = text.charAt(at + run.length);
  const isBehindPlain = PLAIN.test(text.charAt(at - 1));
  const keepsSelector = !JOINER.test(first) && (!isBehindPlain || next === '\u20e3');
  const keepsJoiner = JOINER.test(last) && !isBehindPlain && !PLAIN.test(next);
  return (keepsSelector ? first : '') + (keepsJoiner ? last : '');
}
