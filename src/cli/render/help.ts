import type { Example } from '../line/command.ts';
import type { Format } from '../../ports/codec.ts';
import { safeText, textWidth, wrapText } from '../../messages/text.ts';
import type { Rendering } from './theme.ts';

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

const MIN_TEXT_COLUMNS = 30; // below this, text becomes a column of words

/** Each format's name as `--format` takes it, then its description, and how it was tested. */
export function renderFormats(formats: readonly Format[], { theme, widthColumns }: Rendering): readonly string[] {
  const nameColumns = Math.max(0, ...formats.map(({ name }) => textWidth(name)));
  const textColumns = Math.max(MIN_TEXT_COLUMNS, widthColumns - nameColumns - 2);
  return formats.flatMap(({ name, summary, checked }) => {
    const about = wrapText(safeText(summary), textColumns);
    const proof = wrapText(safeText(`checked: ${checked}`), textColumns).map(theme.faint);
    return [...about, ...proof].map((line, index) =>
      index === 0 ? `${theme.strong(name.padEnd(nameColumns))}  ${line}` : `${' '.repeat(nameColumns + 2)}${line}`,
    );
  });
}
