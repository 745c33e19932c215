/** A line of a hand-over (it may have line ends: the rest is indented), and the messages that it quotes or counts. */
export type HandoverLine = { readonly text: string; readonly messageIds: readonly string[] };

/** Lines that belong together; without lines it is left out. */
export type HandoverSection = { readonly heading: string; readonly lines: readonly HandoverLine[] };

/** Characters that a line takes, its line end included. */
export function charsOf({ text }: HandoverLine): number {
  return text.length + 1;
}

export function renderSections(sections: readonly HandoverSection[]): string {
  return sections
    .filter(({ lines }) => lines.length > 0)
    .map(({ heading, lines }) => [`### ${heading}`, ...lines.map(({ text }) => text)].join('\n'))
    .join('\n\n');
}

/** Characters that a heading takes, with the empty line before it. */
export function headingChars(heading: string): number {
  return heading.length + '### \n\n'.length;
}

/** Further lines of a quotation stand under the first. */
export function indented(text: string, indent = '   '): string {
  return text.replace(/[\n\r\u0085\u2028\u2029]+/g, `\n${indent}`);
}
