import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isRecord, stringAt } from '../json.ts';
import { readTime } from './decode.ts';
import { renderTitle } from './listing.ts';

/** What we know about the file that the summary goes into. */
type RenderInput = {
  readonly summary: SummaryInput;
  /** Ids of events that stay before the kept part; the summary must not take one of them. */
  readonly taken: ReadonlySet<string>;
  readonly headerId: string | null;
};

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * A `session.compaction_complete` like Copilot's own. It takes the id that the first kept event names as its parent,
 * so that kept events attach to it unchanged. Copilot refuses a file with an id that is not a UUID, or with an event
 * without a time.
 */
export function renderSummary({ summary: input, taken, headerId }: RenderInput): readonly string[] {
  const parent = textAt(input.firstKept, 'parentId');
  const isFree = parent !== undefined && UUID.test(parent) && !taken.has(parent);
  const timestamp = [input.lastDroppedBefore, input.lastDropped, input.firstKept]
    .map((record) => textAt(record, 'timestamp'))
    .find((time) => readTime(time) !== null);
  const time = timestamp === undefined ? {} : { timestamp };
  const title =
    input.listedAs === undefined
      ? null
      : { ...renderTitle(input.listedAs), id: input.uuid('title'), ...time, parentId: headerId };
  const event = {
    type: 'session.compaction_complete',
    data: { success: true, preCompactionTokens: input.tokensBefore, summaryContent: input.text },
    id: isFree ? parent : input.uuid('compaction'),
    ...time,
    parentId: title?.id ?? headerId,
  };
  return [title ?? [], event].flat().map((one) => JSON.stringify(one));
}

function textAt(record: Json | undefined, key: string): string | undefined {
  return isRecord(record) ? stringAt(record, key) : undefined;
}
