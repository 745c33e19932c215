import type { FileReport, ReportedCycle } from '../../../app/contract/file-report.ts';
import { groupIntoCells, type Outcome, OUTCOMES, type StripCell } from '../../../core/overview/strip.ts';
import { foldSmallest, type TokenNode } from '../../../core/overview/token-tree.ts';
import { countOf, formatCount } from '../../../messages/quantities.ts';
import { type Cell, foldedTable, html, type Html } from './html.ts';

// On a telephone a cell is 3 pixels wide.
const MAX_CELLS = 120;
const STRIP_HEIGHT = 140;
const MIN_SIDE = 14;
const SHADES = 4;
/** What is drawn above the line, and below it: from the line outward. */
const SIDES = { above: ['kept', 'quoted'], below: ['summarized', 'archived'] } as const;

/** What stays is above the line, what left is below it, so that it can be told apart without color. */
export function strip({ messages, state }: FileReport): Html {
  const cells = groupIntoCells(messages, MAX_CELLS);
  const highest = (side: keyof typeof SIDES): number =>
    Math.sqrt(cells.reduce((top, cell) => Math.max(top, tokensOf(cell, side)), 0));
  const scale = (STRIP_HEIGHT - 2 * MIN_SIDE) / Math.max(1, highest('above') + highest('below'));
  const baseline = MIN_SIDE + highest('above') * scale;
  const topScore = cells.reduce((top, { score }) => Math.max(top, score), 0);
  const width = 100 / Math.max(1, cells.length);
  const drawn = cells.map((cell, at) => stripCell(cell, { x: at * width, width, scale, baseline, topScore }));
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) => html`<span>${formatCount(Math.max(1, Math.round(share * messages.length)))}</span>`,
  );
  const rows = cells.map(({ first, last, tokens, score }) => [
    rangeOf(first, last),
    ...OUTCOMES.map((outcome) => tokens[outcome]),
    score.toFixed(1),
  ]);
  const hasUnsummarized = messages.some(({ outcome }) => outcome === 'archived');
  const verb = state.kind === 'planned' ? 'would leave' : 'left';
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
    ${foldedTable('the strip', ['messages', ...Object.values(OUTCOME_WORDS), 'top score'], rows)}
  </figure>`;
}

const NOT_SUMMARIZED =
  'Not summarized: what the program itself no longer sent, because it had compacted the conversation, or you took it back.';

/** In the order of `OUTCOMES`. */
const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  kept: 'kept',
  quoted: 'quoted',
  summarized: 'summarized',
  archived: 'not summarized',
};

function tokensOf({ tokens }: StripCell, side: keyof typeof SIDES): number {
  const [near, far] = SIDES[side];
  return tokens[near] + tokens[far];
}

function rangeOf(first: number, last: number): string {
  return first === last ? formatCount(first + 1) : `${formatCount(first + 1)}–${formatCount(last + 1)}`;
}

type StripPlace = Readonly<Record<'x' | 'width' | 'scale' | 'baseline' | 'topScore', number>>;

function stripCell(cell: StripCell, { x, width, scale, baseline, topScore }: StripPlace): Html {
  const { first, last, tokens, score } = cell;
  const shade = topScore === 0 ? SHADES : Math.max(1, Math.ceil((SHADES * score) / topScore));
  const bar = (outcome: Outcome, y: number, height: number): Html | null =>
    height <= 0
      ? null
      : html`<rect
          class="${outcome} s${shade}"
          x="${x.toFixed(3)}%"
          width="${(width * 0.86).toFixed(3)}%"
          y="${y.toFixed(1)}"
          height="${Math.max(1, height).toFixed(1)}"
        />`;
  const stack = (side: keyof typeof SIDES): readonly (Html | null)[] => {
    const [near, far] = SIDES[side];
    const all = tokensOf(cell, side);
    const whole = Math.sqrt(all) * scale;
    const inner = whole * (tokens[near] / Math.max(1, all));
    const [nearY, farY] = side === 'above' ? [baseline - inner, baseline - whole] : [baseline, baseline + inner];
    return [bar(near, nearY, inner), bar(far, farY, whole - inner)];
  };
  const parts = OUTCOMES.filter((outcome) => tokens[outcome] > 0).map(
    (outcome) => `${formatCount(tokens[outcome])} tokens ${OUTCOME_WORDS[outcome]}`,
  );
  const label = `${first === last ? 'Message' : 'Messages'} ${rangeOf(first, last)}: ${parts.join(', ') || 'empty'}; importance ${score.toFixed(1)}`;
  return html`<a href="#m${first + 1}" aria-label="${label}" ${first === 0 ? null : html` tabindex="-1"`}
    ><title>${label}</title
    ><rect
      class="hit"
      x="${x.toFixed(3)}%"
      width="${width.toFixed(3)}%"
      height="${STRIP_HEIGHT}"
    />${stack('above')}${stack('below')}</a
  > `;
}

const ICICLE_HEIGHT = 440;
const LEVELS = [
  { x: 0, width: 28, most: 8 },
  { x: 28, width: 26, most: 10 },
  { x: 54, width: 46, most: 10 },
] as const;
const MIN_LABEL_HEIGHT = 15;
const MIN_HEIGHT = 2;

/** Tokens by role, tool and file, from left to right; the height is the share. */
export function icicle(tree: TokenNode): Html {
  const { tokens, children } = tree;
  const drawn = icicleNodes(tree, { depth: 0, y: 0, height: ICICLE_HEIGHT, role: '', whole: Math.max(1, tokens) });
  const rows = children.flatMap((role) => icicleRows(role, [role.name], Math.max(1, tokens)));
  return html`<figure>
    <svg
      class="icicle"
      width="100%"
      height="${ICICLE_HEIGHT}"
      role="img"
      aria-label="Tokens by role, tool and object. The table below has the figures."
    >
      ${drawn}
    </svg>
    <figcaption>
      Role, then tool, then file, address or command. Height: share of ${formatCount(tokens)} tokens. A result counts
      for the file of its call.
    </figcaption>
    ${foldedTable('tokens by role, tool and object', ['role', 'tool', 'object', 'tokens', 'share'], rows)}
  </figure>`;
}

const MOST_ROWS = 20;

/** A row for a node and for each of its largest parts. `names`: from the role down to the node. */
function icicleRows(
  { tokens, children }: TokenNode,
  names: readonly string[],
  whole: number,
): readonly (readonly Cell[])[] {
  const [role = '', tool = '', object = ''] = names;
  const own = [role, tool, object, tokens, `${((100 * tokens) / whole).toFixed(1)} %`];
  if (names.length === LEVELS.length) return [own];
  const parts = children.slice(0, MOST_ROWS);
  return [own, ...parts.flatMap((part) => icicleRows(part, [...names, part.name], whole))];
}

type IciclePlace = Readonly<Record<'depth' | 'y' | 'height' | 'whole', number>> & { readonly role: string };

function icicleNodes(parent: TokenNode, place: IciclePlace): readonly Html[] {
  const { depth, height, whole } = place;
  const level = LEVELS[depth];
  if (level === undefined) return [];
  let y = place.y;
  return foldSmallest(parent.children, level.most).flatMap((node): readonly Html[] => {
    const own = (height * node.tokens) / Math.max(1, parent.tokens);
    const top = y;
    y += own;
    if (own < MIN_HEIGHT) return [];
    const role = depth === 0 ? roleClass(node.name) : place.role;
    const percent = `${((100 * node.tokens) / whole).toFixed(own * 100 < ICICLE_HEIGHT ? 1 : 0)} %`;
    const text =
      own < MIN_LABEL_HEIGHT
        ? null
        : html`<text x="7" y="${Math.min(own / 2 + 4, 18).toFixed(1)}"
            >${percent} ${shortName(node.name, depth)}</text
          >`;
    const box = html`<svg
      x="${level.x}%"
      y="${top.toFixed(1)}"
      width="${level.width}%"
      height="${Math.max(1, own - 1).toFixed(1)}"
    >
      <title>${node.name}: ${formatCount(node.tokens)} tokens, ${percent}</title>
      <rect class="${role} d${depth}" width="99.4%" height="100%" rx="2" />
      ${text}
    </svg> `;
    return [box, ...icicleNodes(node, { depth: depth + 1, y: top, height: own, role, whole })];
  });
}

const ROLES = new Set(['user', 'assistant', 'tool', 'system']);

function roleClass(name: string): string {
  return ROLES.has(name) ? `r-${name}` : 'r-system';
}

/** The end of a path says which file it is. */
function shortName(name: string, depth: number): string {
  if (depth < 2 || /\s/.test(name)) return name;
  return name
    .split(/(?<=[/\\])/)
    .slice(-2)
    .join('');
}

const CYCLE_WIDTH = 168;
const HEAD_HEIGHT = 44;
const BOX_HEIGHT = 26;
const BOX_STEP = 34;
const MOST_CYCLES = 12;
const MOST_BOXES = 12;

/** One column a compaction: the batches that its summary consists of. Lines lead to the batches that replaced them. */
export function lineage(cycles: readonly ReportedCycle[]): Html {
  const firstShown = Math.max(0, cycles.length - MOST_CYCLES);
  const columns = cycles.slice(firstShown).map((cycle, at) => ({
    ...cycle,
    x: at * CYCLE_WIDTH,
    boxes: cycle.live.slice(0, MOST_BOXES).map((batch, row) => ({ ...batch, y: HEAD_HEIGHT + row * BOX_STEP })),
    sources: new Map(cycle.made.map(({ id, sources }) => [id, sources])),
  }));
  const rows = columns.reduce((most, { boxes }) => Math.max(most, boxes.length), 1);
  const height = HEAD_HEIGHT + rows * BOX_STEP;
  const drawn = columns.flatMap(({ x, boxes, sources, live, at: time }, at): readonly (Html | null)[] => [
    html`<text class="strong" x="${x + 1}" y="14">Compaction ${firstShown + at + 1}</text
      ><text class="faint" x="${x + 1}" y="31">${time.slice(0, 10)}</text>`,
    ...boxes.map(({ id, count, label, y }) => {
      const [kind, words] = sources.has(id) ? ['made', 'made here'] : ['carried', 'carried on'];
      return html`<g
        ><title>${label}: ${countOf(count, 'message')}, ${words}</title
        ><rect class="${kind}" x="${x + 1}" y="${y}" width="128" height="${BOX_HEIGHT}" rx="4" /><text
          x="${x + 9}"
          y="${y + 17}"
          >${countOf(count, 'message')}</text
        ></g
      >`;
    }),
    live.length > MOST_BOXES
      ? html`<text x="${x}" y="${height - 2}">and ${live.length - MOST_BOXES} more</text>`
      : null,
  ]);
  const links = columns.flatMap(({ x, boxes, sources }, at) =>
    boxes.flatMap((box) =>
      (sources.get(box.id) ?? [box.id]).flatMap((source): readonly Html[] => {
        const from = columns[at - 1]?.boxes.find(({ id }) => id === source);
        if (from === undefined) return [];
        const [startX, startY, endY] = [x - CYCLE_WIDTH + 129, from.y + BOX_HEIGHT / 2, box.y + BOX_HEIGHT / 2];
        const middle = (startX + x) / 2;
        return [
          html`<path class="link" d="M${startX} ${startY}C${middle} ${startY} ${middle} ${endY} ${x} ${endY}" />`,
        ];
      }),
    ),
  );
  const table = cycles.flatMap(({ made }, at) =>
    made.map(({ label, count, depth, sources, start, end }) => [
      at + 1,
      html`<code>${label}</code>`,
      count,
      depth,
      sources.length,
      `${start?.slice(0, 10) ?? ''}${end === null ? '' : ` – ${end.slice(0, 10)}`}`,
    ]),
  );
  return html`<figure>
    <div class="scroll" tabindex="0" role="region" aria-label="Lineage of the batches">
      <svg
        class="lineage"
        width="${columns.length * CYCLE_WIDTH}"
        height="${height}"
        role="img"
        aria-label="Batches of each compaction. The table below has the figures."
      >
        ${links} ${drawn}
      </svg>
    </div>
    <figcaption>
      Filled: made by that compaction. Outlined: carried on. A line leads from a batch to the one that replaced
      it.${firstShown > 0 ? html` The first ${countOf(firstShown, 'compaction')} are in the table.` : null}
    </figcaption>
    ${foldedTable('batches', ['compaction', 'label', 'messages', 'depth', 'made from batches', 'time'], table)}
  </figure>`;
}
