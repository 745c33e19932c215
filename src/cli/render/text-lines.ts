import { safeText } from './safe-text.ts';

/** Its own line ends stay, and a tab is some room; all else that a terminal would obey is shown as an escape. */
export function textLines(text: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => safeText(line.replaceAll('\t', '    ')));
}
