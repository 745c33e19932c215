import type { Format } from '../../ports/codec.ts';
import { safeText, textWidth, wrapText } from './text.ts';
import type { Theme } from './theme.ts';

const MIN_TEXT_COLUMNS = 30; // below this, text becomes a column of words

/** Each format's name as `--format` takes it, then its description, and how it was tested. */
export function renderFormats(
  formats: readonly Format[],
  place: { readonly theme: Theme; readonly widthColumns: number },
): readonly string[] {
  const nameColumns = Math.max(0, ...formats.map(({ name }) => textWidth(name)));
  const textColumns = Math.max(MIN_TEXT_COLUMNS, place.widthColumns - nameColumns - 2);
  return formats.flatMap(({ name, summary, checked }) => {
    const about = wrapText(safeText(summary), textColumns);
    const proof = wrapText(safeText(`checked: ${checked}`), textColumns).map(place.theme.faint);
    return [...about, ...proof].map((line, index) =>
      index === 0
        ? `${place.theme.strong(name.padEnd(nameColumns))}  ${line}`
        : `${' '.repeat(nameColumns + 2)}${line}`,
    );
  });
}
