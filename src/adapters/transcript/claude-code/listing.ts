import { safeCut } from '../../../core/extract/character.ts';
import type { Entry } from '../../../core/transcript.ts';
import type { ListedFile } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { firstIn, listedRecords } from '../listed-title.ts';

/** The client reads only this many bytes at either end of a file. */
const WINDOW_BYTES = 65_536;

/**
 * The title in the client's list, as version 2.1.197 and `listSessions` of @anthropic-ai/claude-agent-sdk 0.3.330 find
 * it. A file that begins with a record of a side thread is hidden.
 */
export function listedTitle(file: ListedFile): string | null {
  const opening = firstIn(listedRecords(file, 'start', { maxLines: 1 }), ({ isSidechain }) => isSidechain ?? null);
  if (opening === true) return null;
  const window = { withinBytes: WINDOW_BYTES };
  const head = [...listedRecords(file, 'start', window)];
  const tail = [...listedRecords(file, 'end', window)];
  const newestFirst = head.toReversed();
  const prompts = head.filter((record) => isShownPrompt(record));
  const rules = [
    () => firstIn(tail, (record) => ownTitle(record, 'custom-title', 'customTitle')),
    () => firstIn(newestFirst, (record) => ownTitle(record, 'custom-title', 'customTitle')),
    () => firstIn(tail, (record) => ownTitle(record, 'ai-title', 'aiTitle')),
    () => firstIn(newestFirst, (record) => ownTitle(record, 'ai-title', 'aiTitle')),
    () => firstIn(tail, (record) => stringAt(record, 'lastPrompt') ?? null),
    () => firstIn(tail, (record) => stringAt(record, 'summary') ?? null),
    () => firstIn(prompts, shownText),
    () => firstIn(prompts, commandName),
    () =>
      firstIn(prompts, (record) =>
        hasBlock(record, 'image') ? 'Image' : hasBlock(record, 'document') ? 'Document' : null,
      ),
  ];
  for (const rule of rules) {
    const title = rule() ?? '';
    if (title !== '') return title;
  }
  return null;
}

/**
 * Whether the record has a title that the list does not read where it is. At the beginning of a shorter file, or among
 * its last bytes, the list would find it.
 */
export function isTitleOutOfSight({ latestKey, start, length }: Entry, sizeBytes: number): boolean {
  const isInTail = start >= sizeBytes - WINDOW_BYTES;
  if (latestKey === 'ai-title') return !isInTail && start + length - 1 > WINDOW_BYTES;
  return (latestKey === 'last-prompt' || latestKey === 'summary') && !isInTail;
}

function ownTitle(record: JsonRecord, type: string, key: string): string | null {
  return record['type'] === type ? (stringAt(record, key) ?? null) : null;
}

function isShownPrompt(record: JsonRecord): boolean {
  if (record['type'] !== 'user' || record['isMeta'] === true || record['isCompactSummary'] === true) return false;
  return !hasBlock(record, 'tool_result');
}

function hasBlock({ message }: JsonRecord, type: string): boolean {
  const content = isRecord(message) ? message['content'] : undefined;
  return isList(content) && content.some((block) => isRecord(block) && block['type'] === type);
}

/** The texts of a prompt, each on one line. */
function textsOf({ message }: JsonRecord): readonly string[] {
  const content = isRecord(message) ? message['content'] : undefined;
  const blocks = isList(content) ? content : [{ type: 'text', text: content ?? null }];
  const texts = blocks.flatMap((block) =>
    isRecord(block) && block['type'] === 'text' ? (stringAt(block, 'text') ?? []) : [],
  );
  return texts.map((text) => text.replaceAll('\n', ' ').trim()).filter((text) => text !== '');
}

const COMMAND_NAME = /<command-name>(.*?)<\/command-name>/;
const SHELL_INPUT = /<bash-input>([\s\S]*?)<\/bash-input>/;
/** What the client put into the conversation: text in tags, and its note about an interruption. */
const OWN_TEXT = /^(?:\s*<[a-z][\w-]*[\s>]|\[Request interrupted by user[^\]]*\])/;
const MAX_PROMPT = 200;

function shownText(record: JsonRecord): string | null {
  for (const text of textsOf(record)) {
    if (COMMAND_NAME.test(text)) continue;
    const typed = SHELL_INPUT.exec(text)?.[1];
    if (typed !== undefined) return `! ${typed.trim()}`;
    if (!OWN_TEXT.test(text))
      return text.length > MAX_PROMPT ? `${text.slice(0, safeCut(text, MAX_PROMPT)).trim()}…` : text;
  }
  return null;
}

function commandName(record: JsonRecord): string | null {
  const names = textsOf(record).map((text) => COMMAND_NAME.exec(text)?.[1] ?? '');
  return names.find((name) => name !== '') ?? null;
}
