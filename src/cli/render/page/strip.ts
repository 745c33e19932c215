import type { FileReport } from '../../../app/contract/file-report.ts';
import { groupIntoCells, type Outcome, type StripCell } from '../../../core/overview/strip.ts';
import { formatCount } from '../quantities.ts';
import { html, type Html, NOTHING } from './html.ts';
import { foldedTable } from './table.ts';

// On a telephone a cell is 3 pixels wide.
const MAX_CELLS = 120;
const STRIP_HEIGHT = 140;
const MIN_SIDE = 14;

/** What stays is above the line, what left is below it, so that it can be told apart without color. */
export function strip({ messages, state }: FileReport): Html {
  const cells = groupIntoCells(messages, MAX_CELLS);
  const isPlan = state.kind === 'planned';
  const highest = (side: 0 | 1): number =>
    Math.sqrt(cells.reduce((top, { tokens }) => Math.max(top, sides(tokens)[side]), 0));
  const room = STRIP_HEIGHT - 2 * MIN_SIDE;
  const scale = room / Math.max(1, highest(0) + highest(1));
  const baseline = MIN_SIDE + highest(0) * scale;
  const topScore = cells.reduce((top, { score }) => Math.max(top, score), 0);
  const width = 100 / Math.max(1, cells.length);
  const drawn = cells.map((cell, at) =>
    stripCell(cell, { x: at * width, width, scale, baseline, topScore, isFirst: at === 0 }),
  );
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) => html`<span>${formatCount(Math.max(1, Math.round(share * messages.length)))}</span>`,
  );
  const rows = cells.map(({ first, last, tokens, score }) => [
    rangeOf(first, last),
    tokens.kept,
    tokens.quoted,
    tokens.summarized,
    tokens.archived,
    score.toFixed(1),
  ]);
  const hasUnsummarized = messages.some(({ outcome }) => outcome === 'archived');
  const verb = isPlan ? 'would leave' : 'left';
  return html`<figure>
    <svg
      class="strip"
      width="100%"
      height="${STRIP_HEIGHT}"
      role="group"
      aria-label="The conversation from its first to its last message"
    >
      <defs>
        <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="quoted" width="2.5" height="5" />
        </pattern>
      </defs>
      ${drawn}
      <line class="axis" x1="0" x2="100%" y1="${baseline.toFixed(1)}" y2="${baseline.toFixed(1)}" />
    </svg>
    <div class="ticks" aria-hidden="true">${ticks}</div>
    <figcaption>
      <span class="key k-kept">stays in the file</span> <span class="key k-quoted">quoted word for word</span>
      <span class="key k-summarized">${verb}, summarized</span>
      <span class="key k-archived">${verb}, not summarized</span><br />
      Above the line: in the file. Below: only in the archive. Height: tokens (square root). Stronger color: more
      important. Click a bar to read its messages; arrow keys move along. ${hasUnsummarized ? NOT_SUMMARIZED : ''}
    </figcaption>
    ${foldedTable('the strip', ['messages', 'kept', 'quoted', 'summarized', 'not summarized', 'top score'], rows)}
  </figure>`;
}

const NOT_SUMMARIZED =
  'Not summarized: what the program itself no longer sent, because it had compacted the conversation, or you took it back.';

type Tokens = StripCell['tokens'];

function sides({ kept, quoted, summarized, archived }: Tokens): readonly [number, number] {
  return [kept + quoted, summarized + archived];
}

function rangeOf(first: number, last: number): string {
  return first === last ? formatCount(first + 1) : `${formatCount(first + 1)}–${formatCount(last + 1)}`;
}

const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  kept: 'kept',
  quoted: 'quoted',
  summarized: 'summarized',
  archived: 'not summarized',
};

const SHADES = 4;

function stripCell(
  { first, last, tokens, score }: StripCell,
  at: {
    readonly x: number;
    readonly width: number;
    readonly scale: number;
    readonly baseline: number;
    readonly topScore: number;
    readonly isFirst: boolean;
  },
): Html {
  const shade = at.topScore === 0 ? SHADES : Math.max(1, Math.ceil((SHADES * score) / at.topScore));
  const heightOf = (amount: number): number => Math.sqrt(amount) * at.scale;
  const bar = (outcome: Outcome, y: number, height: number): Html =>
    height <= 0
      ? NOTHING
      : html`<rect
          class="${outcome} s${shade}"
          x="${at.x.toFixed(3)}%"
          width="${(at.width * 0.86).toFixed(3)}%"
          y="${y.toFixed(1)}"
          height="${Math.max(1, height).toFixed(1)}"
        />`;
  const stack = (outcomes: readonly [Outcome, Outcome], direction: 1 | -1): readonly Html[] => {
    const [near, far] = outcomes;
    const whole = heightOf(tokens[near] + tokens[far]);
    const inner = whole * (tokens[near] / Math.max(1, tokens[near] + tokens[far]));
    const outer = whole - inner;
    return direction < 0
      ? [bar(near, at.baseline - inner, inner), bar(far, at.baseline - whole, outer)]
      : [bar(near, at.baseline, inner), bar(far, at.baseline + inner, outer)];
  };
  const parts = (['kept', 'quoted', 'summarized', 'archived'] as const)
    .filter((outcome) => tokens[outcome] > 0)
    .map((outcome) => `${formatCount(tokens[outcome])} tokens ${OUTCOME_WORDS[outcome]}`);
  const label = `${first === last ? 'Message' : 'Messages'} ${rangeOf(first, last)}: ${parts.join(', ') || 'empty'}; importance ${score.toFixed(1)}`;
  return html`<a href="#m${first + 1}" aria-label="${label}" ${at.isFirst ? NOTHING : html` tabindex="-1"`}
    ><title>${label}</title
    ><rect
      class="hit"
      x="${at.x.toFixed(3)}%"
      width="${at.width.toFixed(3)}%"
      height="${STRIP_HEIGHT}"
    />${stack(['kept', 'quoted'], -1)}${stack(['summarized', 'archived'], 1)}</a
  > `;
}
