import type { HandoverLine } from './line.ts';

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

/** The summaries as their producer wrote them: the newest whole where it fits, else the first lines of its sections. */
export function summaryLines(
  summaries: readonly { readonly messageId: string; readonly text: string }[],
  maxChars: number,
): readonly HandoverLine[] {
  const newest = summaries.at(-1);
  if (newest === undefined) return [];
  const text = newest.text
    .split(/\n+/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
  const whole = text.join('\n');
  if (whole.length < maxChars) return [{ text: whole, messageIds: [newest.messageId] }];
  let left = maxChars;
  const lines: HandoverLine[] = [];
  for (const line of outline(text)) {
    if (line.length + 1 > left) continue;
    left -= line.length + 1;
    lines.push({ text: line, messageIds: [newest.messageId] });
  }
  return lines;
}

function outline(lines: readonly string[]): readonly string[] {
  return lines;
}
