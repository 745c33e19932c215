import { createNodeRuntime } from '../../src/adapters/runtime/node.ts';
import { formatRegistry } from '../../src/adapters/transcript/detect.ts';
import { type IndexDeps, updateIndex } from '../../src/app/search/update-index.ts';
import type { Archive, LineDraft } from '../../src/ports/archive.ts';
import { textOf } from '../adapters/archive/drafts.ts';

/** What reading stored lines for the index needs. */
export const INDEX_DEPS: IndexDeps = {
  formats: formatRegistry,
  runtime: createNodeRuntime(),
  signal: new AbortController().signal,
  progress: { update: () => undefined, finish: () => undefined },
};

/** Takes everything that is stored into the search index. */
export async function indexAll(archive: Pick<Archive, 'index' | 'readBefore'>): Promise<void> {
  await updateIndex(INDEX_DEPS, archive, Number.POSITIVE_INFINITY);
}

/** Takes the messages of lines into the search index, with the texts of their drafts, whatever their bytes say. */
export async function indexDrafts(archive: Pick<Archive, 'index'>, lines: Iterable<LineDraft>): Promise<void> {
  const texts = [...lines].flatMap(({ message }) => (message === null ? [] : [textOf(message) ?? '']));
  const slice = await archive.index.read({ kind: 'archived', before: null }, Number.POSITIVE_INFINITY);
  const found = (slice?.lines ?? []).toSorted((a, b) => a.lineId - b.lineId);
  if (slice !== null)
    await archive.index.add(
      slice,
      found.map(({ lineId }, at) => ({ lineId, text: texts[at] ?? '', captured: null })),
    );
}
