import type { SearchHit, SearchReport } from '../../app/contract/archive-reports.ts';
import { clipPath } from './clip-path.ts';
import { wrapMarked } from './marked-text.ts';
import { countOf, formatCount } from './quantities.ts';
import { safeText } from './safe-text.ts';
import type { Theme } from './theme.ts';
import { formatMinute } from './time.ts';
import { clipText } from './width.ts';

type SearchRendering = { readonly theme: Theme; readonly widthColumns: number; readonly isVerbose: boolean };

const MIN_COLUMNS = 20; // narrower than this nothing is readable
const INDENT = '  ';

/** For each hit what `compact show` takes, where it stands, and the words found in their surroundings. */
export function renderSearchReport(report: SearchReport, rendering: SearchRendering): readonly string[] {
  return report.hits.flatMap((hit, index) => [...(index === 0 ? [] : ['']), ...renderHit(hit, rendering)]);
}

function renderHit(hit: SearchHit, { theme, widthColumns, isVerbose }: SearchRendering): readonly string[] {
  const columns = Math.max(MIN_COLUMNS, widthColumns);
  const inner = columns - INDENT.length;
  const about = clipText(hit.kind === 'message' ? aboutMessage(hit) : aboutBatch(hit), inner - hit.show.length);
  const place = hit.kind === 'message' && hit.index !== null ? `, message ${formatCount(hit.index)}` : '';
  const more = isVerbose ? [hit.label, hit.conversation, hit.id] : [];
  return [
    `${theme.strong(hit.show)}${INDENT}${about}`,
    `${INDENT}${theme.faint(`${clipPath(safeText(hit.file), inner - place.length)}${place}`)}`,
    ...[...new Set(more)].flatMap((one) => (one === null ? [] : [`${INDENT}${theme.faint(safeText(one))}`])),
    ...wrapMarked(hit, { columns: inner, paint: theme.match }).map((line) => INDENT + line),
  ];
}

function aboutMessage({ role, name, at }: Extract<SearchHit, { readonly kind: 'message' }>): string {
  const speaker = name === null ? role : `${role} ${safeText(name)}`;
  return at === null ? speaker : `${speaker}, ${formatMinute(at)}`;
}

function aboutBatch({ count, depth, at }: Extract<SearchHit, { readonly kind: 'batch' }>): string {
  const what = `summary of ${countOf(count, 'message')}${depth === 0 ? '' : `, depth ${depth}`}`;
  return at === null ? what : `${what}, ${formatMinute(at)}`;
}
