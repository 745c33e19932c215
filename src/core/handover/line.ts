/** A line of a hand-over and the messages that it quotes or counts. Line ends inside the text are followed by an indent. */
export type HandoverLine = { readonly text: string; readonly messageIds: readonly string[] };

/** A section of a hand-over. Sections without lines are left out. */
export type HandoverSection = { readonly heading: string; readonly lines: readonly HandoverLine[] };

/** The length of a line, its line end included. */
export function charsOf({ text }: HandoverLine): number {
  return text.length + 1;
}

export function charsOfAll(lines: readonly HandoverLine[]): number {
  return lines.reduce((sum, line) => sum + charsOf(line), 0);
}

/** The length of a section and the empty line after it. */
export function sectionChars({ heading, lines }: HandoverSection): number {
  return headingChars(heading) + charsOfAll(lines);
}

export function headingChars(heading: string): number {
  return heading.length + 2;
}

export function renderSections(sections: readonly HandoverSection[]): string {
  return sections.map(({ heading, lines }) => [heading, ...lines.map(({ text }) => text)].join('\n')).join('\n\n');
}

/** Every character that some reader may treat as a line end. */
const LINE_ENDS = /[\n\r\u0085\u2028\u2029]+/;
const RARE_LINE_ENDS = ['\r', '\u0085', '\u2028', '\u2029'];

/** Splits text where one or more line ends are. Most texts only have line feeds: looking for these takes a fraction of the time. */
export function splitLines(text: string): readonly string[] {
  if (RARE_LINE_ENDS.some((end) => text.includes(end))) return text.split(LINE_ENDS);
  const lines = text.split('\n');
  return lines.filter((line, at) => line !== '' || at === 0 || at === lines.length - 1);
}

/** Puts a name on one line. */
export function joinLines(text: string): string {
  return splitLines(text).join(' ');
}

const LINE_END = /[^\S\n\r\u2028\u2029]*[\n\r\u0085\u2028\u2029]+\s*/g;
/** Characters that begin our own headings and labels. */
const STRUCTURAL = '#＃﹟[［';
const HEADING_MARKS =
  /(^|[\n\r\u0085\u2028\u2029])([^\S\n\r\u2028\u2029]*(?:[-*+•][^\S\n\r\u2028\u2029]+)?)#{1,6}[^\S\n\r\u2028\u2029]+/g;

/** Removes the marks of Markdown headings, so that quoted headings are ordinary lines in our sections and lists. */
function withoutHeadingMarks(text: string): string {
  return text.replace(HEADING_MARKS, '$1$2');
}

/** How a request begins and ends tells which it is, so there even its headings are quoted as they are. */
const EXACT_OPENING_CHARS = 220;
const EXACT_CLOSING_CHARS = 80;
/** A heading below the title, which may be a comment of a script. */
const SUBHEADING =
  /(?<=[\n\r\u0085\u2028\u2029])[^\S\n\r\u2028\u2029]*#{2,6}[^\S\n\r\u2028\u2029]+([^\n\r\u0085\u2028\u2029*]+)/g;

/**
 * Formats a quotation for a line: further lines are indented, headings are bold. What would still look like our own heading or label is joined
 * to the line before.
 */
export function quotedExactly(text: string, indent = '   '): string {
  const inner = text.replace(SUBHEADING, (whole: string, heading: string, at: number) =>
    at < EXACT_OPENING_CHARS || at > text.length - EXACT_CLOSING_CHARS ? whole : `**${heading.trim()}**`,
  );
  return inner.replace(LINE_END, (end, at: number) =>
    STRUCTURAL.includes(inner.charAt(at + end.length)) ? ' ' : `\n${indent}`,
  );
}

/** Formats a quotation, removing heading marks so that its headings keep lines of their own. */
export function quoted(text: string, indent = '   '): string {
  return quotedExactly(withoutHeadingMarks(text), indent);
}
