import type { ListedFile } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { asTitle, firstIn, listedRecords } from '../listed-title.ts';

/** How many lines Codex reads in search of a title: 10 records, and 200 more until it has found one. */
const HEAD_LINES = 210;

/** Editors put what they add to a prompt before these words. */
const PROMPT_BEGINS = '## My request for Codex:';

/**
 * The title in Codex's list, as codex-rs/rollout/src/list.rs finds it in a rollout: the first event with a prompt or a
 * goal. A rollout without one is hidden. A name that was given to a thread is in an index beside the rollouts.
 */
export function listedTitle(file: ListedFile): string | null {
  const head = listedRecords(file, 'start', { maxLines: HEAD_LINES, isWanted: ({ kind = 'meta' }) => kind === 'meta' });
  return asTitle(
    firstIn(head, ({ type, payload }) => (type === 'event_msg' && isRecord(payload) ? preview(payload) : null)),
  );
}

/** The event that Codex writes when somebody enters a prompt. It is for the screen and never sent. */
export function renderTitle(title: string): JsonRecord {
  return { type: 'event_msg', payload: { type: 'user_message', message: title, images: [], local_images: [] } };
}

function preview(event: JsonRecord): string | null {
  if (event['type'] === 'thread_goal_updated') {
    const { goal } = event;
    return isRecord(goal) ? asTitle(stringAt(goal, 'objective')) : null;
  }
  if (event['type'] !== 'user_message') return null;
  const message = stringAt(event, 'message') ?? '';
  const begin = message.indexOf(PROMPT_BEGINS);
  const hasImage = [event['images'], event['local_images']].some((list) => isList(list) && list.length > 0);
  return asTitle(begin < 0 ? message : message.slice(begin + PROMPT_BEGINS.length)) ?? (hasImage ? '[Image]' : null);
}
