import { quoteText } from '../quoted-text.ts';
import { cutAtBlank } from './excerpt-of.ts';
import { LINE_ENDS, type HandoverLine } from './line.ts';

const BEGINNINGS: readonly RegExp[] = [
  /^\s*This session is being continued from a previous conversation/,
  /^\s*Another language model started to solve this problem and produced a summary/,
  /^\s*The conversation history before this point was compacted into the following summary/,
  /^\s*<state_snapshot>/,
  /^\s*\[Context Summary — /,
];

/** Whether a text in the user's name is a summary that a program wrote when it compacted the conversation. */
export function isProducerSummary(text: string): boolean {
  return BEGINNINGS.some((beginning) => beginning.test(text.slice(0, 200)));
}

const FRAME =
  /^(?:This session is being continued from|Analysis:$|<\/?(?:analysis|summary|state_snapshot)>$|Summary:$|If you need specific details from before compaction|Please continue the conversation from where|Continue the conversation from where|\[Context Summary — )/;
const ANALYSIS = /(?:^|\n)(?:Analysis:|<analysis>)[\s\S]*?\n(?=(?:Summary:|<summary>)\s*\n)/;
const FENCE = /^\s*(?:```|~~~)/;
const MAX_LINE_CHARS = 240;

/** The newest of the summaries that the producer wrote: whole where it fits, else the first lines of each of its sections. */
export function summaryLines(
  summaries: readonly { readonly messageId: string; readonly text: string }[],
  maxChars: number,
): readonly HandoverLine[] {
  const newest = summaries.at(-1);
  if (newest === undefined) return [];
  const lines = readLines(newest.text);
  const size = lines.reduce((sum, { text }) => sum + text.length + 1, 0);
  const chosen = size <= maxChars ? lines : outlineOf(lines, maxChars);
  return chosen.map(({ text }) => ({ text, messageIds: [newest.messageId] }));
}

type SummaryLine = { readonly text: string; readonly section: number; readonly isCode: boolean };

/** Its lines without the frame that its producer put around it. Each is indented, so that none can be taken for a line of ours. */
function readLines(summary: string): readonly SummaryLine[] {
  const lines: SummaryLine[] = [];
  let section = 0;
  let isFenced = false;
  for (const line of summary.replace(ANALYSIS, '\n').split(LINE_ENDS)) {
    const written = line.trimEnd();
    if (written === '' || FRAME.test(written.trim())) continue;
    const isFence = FENCE.test(written);
    if (isFence) isFenced = !isFenced;
    if (!isFenced && !isFence && /^(?:#|\d{1,2}\.\s|[^\s-].*:$|\*\*)/.test(written)) section += 1;
    lines.push({ text: `  ${quoteText(written)}`, section, isCode: isFenced || isFence });
  }
  return lines;
}

/** The first lines of all sections, then their second ones, until nothing more fits; in order. */
function outlineOf(lines: readonly SummaryLine[], maxChars: number): readonly SummaryLine[] {
  const placeInSection = new Map<number, number>();
  const ranked = lines.flatMap((line, index) => {
    if (line.isCode) return [];
    const place = placeInSection.get(line.section) ?? 0;
    placeInSection.set(line.section, place + 1);
    return [{ index, place, line: { ...line, text: cutAtBlank(line.text, MAX_LINE_CHARS) } }];
  });
  let left = maxChars;
  return ranked
    .toSorted((a, b) => a.place - b.place || a.index - b.index)
    .filter(({ line }) => {
      if (line.text.length + 1 > left) return false;
      left -= line.text.length + 1;
      return true;
    })
    .toSorted((a, b) => a.index - b.index)
    .map(({ line }) => line);
}
