import type { ArchiveEmbedReport } from '../../app/search/embeddings/embed-archive.ts';
import { countOf, formatCount } from './quantities.ts';
import { safeText } from './safe-text.ts';

/** What was done, in a line, and another one about what was dropped for it. */
export function renderArchiveEmbed(report: ArchiveEmbedReport): readonly string[] {
  const { embedded, missing, model, dimensions, dropped } = report;
  const length = dimensions === null ? '' : `, ${formatCount(dimensions)} numbers each`;
  const nothing = embedded === 0 && missing === 0;
  const done = nothing
    ? 'nothing is missing'
    : `${countOf(embedded, 'vector')} made by ${safeText(model)}${length}${missing === 0 ? '' : `; ${formatCount(missing)} missing still`}`;
  return [
    `${safeText(report.archive ?? '')}: ${done}`,
    ...(dropped === 0 ? [] : [`  dropped      ${formatCount(dropped)} by another model`]),
  ];
}
