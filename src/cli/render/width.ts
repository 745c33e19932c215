import stringWidth from 'string-width';

const ASCII = /^[\x20-\x7e]*$/;
const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Columns on a terminal. */
export function textWidth(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text);
}

/** At most `columns` wide; what is cut off leaves an ellipsis. */
export function clipText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  if (columns <= 0) return '';
  let width = 0;
  let kept = '';
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += textWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
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
