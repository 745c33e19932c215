import type { Passage } from './passage.ts';

const SAMPLE_CHARS = 20_000;
const UNITS_A_PASSAGE = 12;
// A guess, so that the sample is taken from all over.
const CHARS_A_PASSAGE = 1_000;

/** Enough prose to tell its language. */
export function proseSample(passages: readonly Passage[]): string {
  const step = Math.max(1, Math.floor((passages.length * CHARS_A_PASSAGE) / SAMPLE_CHARS));
  const pieces: string[] = [];
  let chars = 0;
  for (let i = 0; i < passages.length && chars < SAMPLE_CHARS; i += step) {
    const { text, units } = passages[i] ?? { text: '', units: [] };
    for (const { kind, start, end } of units.slice(0, UNITS_A_PASSAGE)) {
      if (kind !== 'prose') continue;
      pieces.push(text.slice(start, end));
      chars += end - start;
    }
  }
  return pieces.join('\n');
}
