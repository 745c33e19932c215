/** A line of a hand-over (it may have line ends: the rest is indented), and the messages that it quotes or counts. */
export type HandoverLine = { readonly text: string; readonly messageIds: readonly string[] };

/** Lines that belong together; without lines it is left out. */
export type HandoverSection = { readonly heading: string; readonly lines: readonly HandoverLine[] };

/** Characters that a line takes, its line end included. */
export function charsOf({ text }: HandoverLine): number {
  return text.length + 1;
}

/** Characters of a section with the empty line behind it. */
export function sectionChars({ heading, lines }: HandoverSection): number {
  return headingChars(heading) + lines.reduce((chars, line) => chars + charsOf(line), 0);
}

export function headingChars(heading: string): number {
  return heading.length + 2;
}

export function renderSections(sections: readonly HandoverSection[]): string {
  return sections.map(({ heading, lines }) => [heading, ...lines.map(({ text }) => text)].join('\n')).join('\n\n');
}

/** Whatever some reader takes for the end of a line. */
export const LINE_ENDS = /[\n\r\u0085\u2028\u2029]+/;

/** A name that has to stay on one line. */
export function joinLines(text: string): string {
  return text.split(LINE_ENDS).join(' ');
}

const LINE_END = /[^\S\n\r\u2028\u2029]*[\n\r\u0085\u2028\u2029]+\s*/g;
/** Characters that begin a heading or a label of ours. */
const STRUCTURAL = '#＃﹟[［';
const HEADING_MARKS =
  /(^|[\n\r\u0085\u2028\u2029])([^\S\n\r\u2028\u2029]*(?:[-*+•][^\S\n\r\u2028\u2029]+)?)#{1,6}[^\S\n\r\u2028\u2029]+/g;

/** Without the marks of Markdown headings: below a heading or in a list of ours they are lines like others. */
export function withoutHeadingMarks(text: string): string {
  return text.replace(HEADING_MARKS, '$1$2');
}

/**
 * A quotation as it may stand in a line: its further lines are indented, and none begins like a heading or a label of ours, which stays on the
 * line before it instead.
 */
export function quotedExactly(text: string, indent = '   '): string {
  return text.replace(LINE_END, (end, at: number) =>
    STRUCTURAL.includes(text.charAt(at + end.length)) ? ' ' : `\n${indent}`,
  );
}

/** The same where headings may lose their marks, so that they keep lines of their own. */
export function quoted(text: string, indent = '   '): string {
  return quotedExactly(withoutHeadingMarks(text), indent);
}
