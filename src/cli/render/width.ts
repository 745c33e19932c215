import { createRequire } from 'node:module';
import type stringWidth from 'string-width';

// Printable ASCII and what this program draws with: one column each.
const SIMPLE = /^[\x20-\x7e█·…→]*$/;

/** Columns on a terminal. */
export function textWidth(text: string): number {
  return SIMPLE.test(text) ? text.length : unicode.load().measure(text);
}

type Unicode = { readonly measure: (text: string) => number; readonly graphemes: Intl.Segmenter };

/** Loaded when the first text needs it: the tables of Unicode take as long as the rest of a start together. */
const unicode = createLazy((): Unicode => {
  const require = createRequire(import.meta.url);
  const { default: measure }: { readonly default: typeof stringWidth } = require('string-width');
  return { measure, graphemes: new Intl.Segmenter(undefined, { granularity: 'grapheme' }) };
});

function createLazy<T>(create: () => T): { readonly load: () => T } {
  const loaded: T[] = [];
  return {
    load: () => {
      const [known] = loaded;
      if (known !== undefined) return known;
      const created = create();
      loaded.push(created);
      return created;
    },
  };
}

/** At most `columns` wide; what is cut off leaves an ellipsis. */
export function clipText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  if (columns <= 0) return '';
  if (SIMPLE.test(text)) return `${text.slice(0, columns - 1)}…`;
  let width = 0;
  let kept = '';
  for (const { segment } of unicode.load().graphemes.segment(text)) {
    width += textWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The same, cut off at its start: of a path the end tells more. */
export function clipStart(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  if (columns <= 0) return '';
  if (SIMPLE.test(text)) return `…${text.slice(text.length - columns + 1)}`;
  let width = 0;
  let kept = '';
  for (const { segment } of [...unicode.load().graphemes.segment(text)].toReversed()) {
    width += textWidth(segment);
    if (width > columns - 1) break;
    kept = segment + kept;
  }
  return `…${kept}`;
}

/** The same, cut out of its middle: a path's beginning tells whose it is, its end which one. */
export function clipMiddle(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  const headColumns = Math.floor(columns / 3);
  if (headColumns < 2) return clipStart(text, columns);
  const head = clipText(text, headColumns);
  return head + clipStart(text, columns - textWidth(head) + 1).slice(1);
}

/** Exactly `columns` wide. */
export function fitText(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const clipped = clipText(text, columns);
  const padding = ' '.repeat(Math.max(0, columns - textWidth(clipped)));
  return align === 'left' ? clipped + padding : padding + clipped;
}

/** Lines of at most `columns`, broken at spaces; a longer word stands alone. */
export function wrapText(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || textWidth(longer) <= columns) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
