import type { ReportedCycle } from '../../../app/contract/file-report.ts';
import { countOf } from '../quantities.ts';
import { html, type Html, NOTHING } from './html.ts';
import { foldedTable } from './table.ts';

const CYCLE_WIDTH = 168;
const BOX_HEIGHT = 26;
const BOX_STEP = 34;
const MOST_CYCLES = 12;
const MOST_BOXES = 12;

/** One column a compaction: the batches that its summary consists of. Lines lead to the batches that replaced them. */
export function lineage(cycles: readonly ReportedCycle[]): Html {
  const shown = cycles.slice(-MOST_CYCLES);
  const firstShown = cycles.length - shown.length;
  const rows = shown.reduce((most, { live }) => Math.max(most, Math.min(live.length, MOST_BOXES)), 1);
  const width = shown.length * CYCLE_WIDTH;
  const height = 44 + rows * BOX_STEP;
  const place = (at: number, row: number): readonly [x: number, y: number] => [at * CYCLE_WIDTH, 44 + row * BOX_STEP];
  const rowOf = shown.map(({ live }) => new Map(live.slice(0, MOST_BOXES).map(({ id }, row) => [id, row])));
  const boxes = shown.flatMap(({ live, made, at: time }, at): readonly Html[] => {
    const fresh = new Set(made.map(({ id }) => id));
    const columns = live.slice(0, MOST_BOXES).map(({ id, count, label }, row) => {
      const [x, y] = place(at, row);
      return html`<g
        ><title>${label}: ${countOf(count, 'message')}${fresh.has(id) ? ', made here' : ', carried on'}</title
        ><rect
          class="${fresh.has(id) ? 'made' : 'carried'}"
          x="${x + 1}"
          y="${y}"
          width="128"
          height="${BOX_HEIGHT}"
          rx="4"
        /><text x="${x + 9}" y="${y + 17}">${countOf(count, 'message')}</text></g
      >`;
    });
    const more =
      live.length > MOST_BOXES
        ? html`<text x="${place(at, 0)[0]}" y="${height - 2}">and ${live.length - MOST_BOXES} more</text>`
        : NOTHING;
    return [
      html`<text class="strong" x="${at * CYCLE_WIDTH + 1}" y="14">Compaction ${firstShown + at + 1}</text
        ><text class="faint" x="${at * CYCLE_WIDTH + 1}" y="31">${time.slice(0, 10)}</text>`,
      ...columns,
      more,
    ];
  });
  const links = shown.flatMap(({ live, made }, at): readonly Html[] => {
    const sources = new Map(made.map((batch) => [batch.id, batch.sources]));
    return live.slice(0, MOST_BOXES).flatMap(({ id }, row) =>
      (sources.get(id) ?? [id]).flatMap((source): readonly Html[] => {
        const from = rowOf[at - 1]?.get(source);
        if (from === undefined) return [];
        const [x1, y1] = place(at - 1, from);
        const [x2, y2] = place(at, row);
        const [startX, startY, endY] = [x1 + 129, y1 + BOX_HEIGHT / 2, y2 + BOX_HEIGHT / 2];
        const middle = (startX + x2) / 2;
        return [
          html`<path class="link" d="M${startX} ${startY}C${middle} ${startY} ${middle} ${endY} ${x2} ${endY}" />`,
        ];
      }),
    );
  });
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
        width="${width}"
        height="${height}"
        role="img"
        aria-label="Batches of each compaction. The table below has the figures."
      >
        ${links} ${boxes}
      </svg>
    </div>
    <figcaption>
      Filled: made by that compaction. Outlined: carried on. A line leads from a batch to the one that replaced
      it.${firstShown > 0 ? html` The first ${countOf(firstShown, 'compaction')} are in the table.` : NOTHING}
    </figcaption>
    ${foldedTable('batches', ['compaction', 'label', 'messages', 'depth', 'made from batches', 'time'], table)}
  </figure>`;
}
