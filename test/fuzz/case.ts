import * as fc from 'fast-check';
import { applyEdits, type Lines } from './edits/apply.ts';
import { type EditLimits, edits } from './edits/edit.ts';
import { type CaseSettings, settings } from './settings.ts';
import { conversations, type Writer } from './transcripts/events.ts';

/** One compaction: what was appended to the file since the last one, and with what settings it is done. */
export type Step = {
  readonly appended: Buffer;
  /** What of the file itself is appended again before that, as by somebody who joins files. */
  readonly echo: 'nothing' | 'first line' | 'everything';
  readonly settings: CaseSettings;
  /** copy: one of the file is compacted too. another archive: the one that it was compacted with is elsewhere. */
  readonly twist: 'nothing' | 'copy' | 'another archive';
};

export type FuzzCase = {
  /** As `--format` names it; null: detected. */
  readonly format: string | null;
  readonly steps: readonly Step[];
};

/** How lines become a file. */
type Framing = {
  readonly eols: readonly string[];
  readonly hasBom: boolean;
  readonly hasFinalEol: boolean;
  /** Whether the part before an appended one ends with a line ending: if not, records are glued. */
  readonly endsParts: boolean;
};

const framing: fc.Arbitrary<Framing> = fc.record({
  eols: fc.oneof(
    { weight: 12, arbitrary: fc.constant(['\n']) },
    { weight: 3, arbitrary: fc.constant(['\r\n']) },
    { weight: 1, arbitrary: fc.constantFrom(['\r'], ['\n', '\r\n'], ['\n\n', '\n'], ['\n', '\u2028']) },
  ),
  hasBom: mostly(false),
  hasFinalEol: mostly(true, 3),
  endsParts: mostly(true, 5),
});

const twist = fc.oneof(
  { weight: 12, arbitrary: fc.constant('nothing') },
  { weight: 1, arbitrary: fc.constantFrom('copy', 'another archive') },
);

export type CaseInput = EditLimits & {
  readonly format: string;
  readonly write: Writer;
  /** Every format that `--format` may name. */
  readonly formats: readonly string[];
};

/** Transcripts of one format, damaged in up to six ways, compacted up to three times. */
export function cases({ format, write, formats, ...limits }: CaseInput): fc.Arbitrary<FuzzCase> {
  return fc
    .record({
      events: conversations,
      flavor: fc.nat({ max: 59 }),
      edits: edits(limits),
      framing,
      format: fc.oneof(
        { weight: 8, arbitrary: fc.constant(null) },
        { weight: 2, arbitrary: fc.constant(format) },
        { weight: 1, arbitrary: fc.constantFrom(...formats) },
      ),
      twists: fc.array(twist, { minLength: 3, maxLength: 3 }),
      cuts: fc.array(fc.nat({ max: 1000 }), { maxLength: 2 }),
      echo: fc.oneof(
        { weight: 12, arbitrary: fc.constant('nothing') },
        { weight: 1, arbitrary: fc.constantFrom('first line', 'everything') },
      ),
      settings: fc.array(settings, { minLength: 3, maxLength: 3 }),
      isSteady: fc.boolean(),
    })
    .map((drawn): FuzzCase => {
      const lines = applyEdits(
        write(drawn.events, drawn.flavor).map((line) => Buffer.from(line)),
        drawn.edits,
      );
      const parts = splitAt(lines, drawn.cuts);
      const steps = parts.map((part, index): Step => {
        const chosen = drawn.settings[drawn.isSteady ? 0 : index];
        if (chosen === undefined) throw new Error('more parts than settings');
        return {
          appended: joinLines(part, drawn.framing, { isFirst: index === 0, isLast: index === parts.length - 1 }),
          echo: index === 0 ? 'nothing' : drawn.echo,
          settings: chosen,
          twist: drawn.twists[index] ?? 'nothing',
        };
      });
      return { format: drawn.format, steps };
    });
}

function mostly(value: boolean, weight = 12): fc.Arbitrary<boolean> {
  return fc.oneof({ weight, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constant(!value) });
}

/** Cuts are thousandths of the lines; the first part has at least half of them. */
function splitAt(lines: Lines, cuts: readonly number[]): readonly Lines[] {
  const places = cuts.map((cut) => Math.floor(lines.length * (0.5 + cut / 2000))).sort((a, b) => a - b);
  return [0, ...places].map((from, index) => lines.slice(from, places[index]));
}

function joinLines(
  lines: Lines,
  { eols, hasBom, hasFinalEol, endsParts }: Framing,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
): Buffer {
  const pieces = lines.flatMap((line, index) => {
    const isOpen = index === lines.length - 1 && !(isLast ? hasFinalEol : endsParts);
    return [line, Buffer.from(isOpen ? '' : (eols[index % eols.length] ?? '\n'))];
  });
  return Buffer.concat([Buffer.from(isFirst && hasBom ? '\ufeff' : ''), ...pieces]);
}
