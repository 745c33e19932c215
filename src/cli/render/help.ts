import type { Example } from '../line/command.ts';
import { textWidth, wrapText } from './text.ts';

/** The end of a command's help: its examples, in two columns where they fit, else with the meaning below the line. */
export function renderExamples(examples: readonly Example[], widthColumns: number): string {
  const lineColumns = Math.max(...examples.map(([line]) => textWidth(line)));
  const hasRoom = examples.every(([, meaning]) => lineColumns + textWidth(meaning) + 4 <= widthColumns);
  const rows = examples.flatMap(([line, meaning]) =>
    hasRoom
      ? [`  ${line.padEnd(lineColumns)}  ${meaning}`]
      : [`  ${line}`, ...wrapText(meaning, widthColumns - 6).map((part) => `      ${part}`)],
  );
  return `Examples:\n${rows.join('\n')}\n`;
}

export const EXAMPLES: readonly Example[] = [
  ['compact scan', 'finds transcripts worth compacting'],
  ['compact -n session.jsonl', 'shows what would be done'],
  ['compact session.jsonl', 'writes session.compact.jsonl beside it'],
  ['compact -i --if-over 100k sessions', 'replaces the large ones in place'],
  ['compact restore session.compact.jsonl -o original.jsonl', 'restores the original'],
  ['compact search parser config', 'finds what was archived'],
];

export const EXIT_STATUS =
  'Exit codes: 0 done or nothing to do, 1 a transcript failed, 2 wrong usage or configuration, 69 wrong Node version, 130 or 143 interrupted.';
