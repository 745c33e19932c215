import { textWidth } from './width.ts';

const LABEL_COLUMNS = 9;
/** What a report keeps to where it can: half of most screens. */
const REPORT_COLUMNS = 60;
export const INDENT_COLUMNS = LABEL_COLUMNS + 3;

/** A line of a report; texts must be safe. */
export function reportRow(label: string, text: string): string {
  return `  ${label.padEnd(LABEL_COLUMNS)} ${text}`;
}

/** A list with commas, going on in the next line where one is full. */
export function reportList(label: string, parts: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const [index, part] of parts.entries()) {
    const text = index === parts.length - 1 ? part : `${part},`;
    const line = lines.at(-1);
    if (line !== undefined && textWidth(line) + 1 + textWidth(text) <= REPORT_COLUMNS) {
      lines[lines.length - 1] = `${line} ${text}`;
    } else lines.push(reportRow(lines.length === 0 ? label : '', text));
  }
  return lines;
}
