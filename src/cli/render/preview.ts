import type { CompactReport } from '../../app/contract/reports.ts';
import { safeText } from './safe-text.ts';
import { textLines } from './text-lines.ts';
import type { Theme } from './theme.ts';

/** The clip-archives of a preview as they would be written; each is named where there are several. */
export function renderPreview(
  { file, preview = [] }: CompactReport,
  { isSeveral, theme }: { readonly isSeveral: boolean; readonly theme: Theme },
): readonly string[] {
  const isNamed = isSeveral || preview.length > 1;
  return preview.flatMap(({ conversation, text }) => [
    ...(isNamed ? [theme.strong(`${safeText(file)}, conversation ${safeText(conversation)}:`)] : []),
    ...textLines(text),
    ...(isNamed ? [''] : []),
  ]);
}
