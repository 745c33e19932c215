import type { MessagePart, Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, parseText, readIsoTime, recordsAt, stringAt, valueAt } from '../json.ts';
import { argumentText, contentText, contentTexts, readPartText, ruleWords, typedText } from '../message-parts.ts';
import type { Noted } from '../session.ts';
import { callPart, decodeSummary, resultPart, say, type SaidPlace, textParts, wordsKey } from '../said.ts';

/**
 * The message that a record without words of its own goes or stays with. call: the one that makes or answers the call. words: the one nearby
 * with the same words. answer: the model's next words or call. next: the next message. turn: the last message of the turn that begins
 * here. last: the message before it.
 */
type Attachment =
  | { readonly kind: 'call'; readonly id: string }
  | { readonly kind: 'words'; readonly key: string }
  | { readonly kind: 'answer' | 'next' | 'turn' | 'last' };

/** What the codec needs to know about a record beyond its facts. */
export type CodexNote =
  | Attachment
  /**
   * A message. `wordsKey` is the same for records that repeat its words. `turnPart`: Codex counts a turn from a message that opens it; an
   * update leaves with the turn that follows it.
   */
  | { readonly kind: 'said'; readonly turnPart?: 'opens' | 'update'; readonly wordsKey?: string }
  /** So many turns before it were taken back. */
  | { readonly kind: 'rollback'; readonly turns: number }
  /** It gives the size of the context, which is wrong as soon as the conversation is compacted. */
  | { readonly kind: 'context-size' }
  /** A compaction that kept what persons typed before it. */
  | { readonly kind: 'keeps-prompts' }
  /** Why nothing in this file can be compacted. */
  | { readonly kind: 'obstacle'; readonly reason: string };

/** A decoded record of Codex, with its note. */
type Read = Noted<CodexNote>;

/**
 * Decodes a record of a rollout, whatever precedes it. An unknown type is carried along; a known one without its
 * payload is a problem.
 */
export function decodeRecord(record: JsonRecord, line: number): Read | RecordProblem {
  const { type, payload, timestamp } = record;
  const decode = typeof type === 'string' ? DECODERS.get(type) : undefined;
  if (decode === undefined) return { kind: 'meta' };
  if (!isRecord(payload)) return { problem: `a ${stringAt(record, 'type')} record without a payload` };
  return decode(payload, { line, at: readIsoTime(timestamp) });
}

const DECODERS = new Map<string, (payload: JsonRecord, place: SaidPlace) => Read | RecordProblem>([
  ['response_item', decodeItem],
  ['compacted', decodeCompaction],
  ['event_msg', readEvent],
  ['turn_context', () => ({ kind: 'meta', latestKey: 'turn_context', note: { kind: 'next' } })],
  ['inter_agent_communication', decodeCommunication],
  ['inter_agent_communication_metadata', () => ({ kind: 'meta', note: { kind: 'next' } })],
]);

/** A message that opens a turn. */
const OPENS = { kind: 'said', turnPart: 'opens' } as const;
/** One that leaves with the turn that follows it. */
const UPDATE = { kind: 'said', turnPart: 'update' } as const;

/** A message from another agent, which Codex sends to the model like one from a person. */
function decodeCommunication(payload: JsonRecord, place: SaidPlace): Read {
  const parts: readonly MessagePart[] = [{ kind: 'text', text: contentText(payload['content']) }];
  const id = stringAt(payload, 'id');
  return say({ ...place, id, role: 'user', parts, name: stringAt(payload, 'author') }, { note: OPENS });
}

/** One item of the Responses API, inside a Codex record or alone. Only a message can be a problem. */
export function decodeItem(item: JsonRecord, around: SaidPlace): Read | RecordProblem {
  const type = stringAt(item, 'type') ?? ('role' in item ? 'message' : '');
  const place = { ...around, id: stringAt(item, 'id') };
  if (type === 'message' || type === 'agent_message') return decodeMessage(item, type, place);
  if (type === 'reasoning') return { kind: 'meta', note: { kind: 'answer' } };
  if (type.endsWith('_call')) {
    const own = item['output'] === undefined ? '' : outputText(item['output']);
    return say({ ...place, role: 'assistant', parts: [readCall(item, type), ...textParts([own])] });
  }
  if (!type.endsWith('_output')) return { kind: 'meta' };
  const { output, tools } = item;
  // A search for tools has their names.
  const isSearch = output === undefined && isList(tools);
  const found = recordsAt(tools).flatMap((tool) => stringAt(tool, 'name') ?? []);
  const text = isSearch ? found.join('\n') : outputText(output);
  const isError = valueAt(output, 'success') === false;
  return say({ ...place, role: 'tool', parts: [resultPart(stringAt(item, 'call_id'), text, isError)] });
}

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['developer', 'system'],
  ['system', 'system'],
]);

function decodeMessage(item: JsonRecord, type: string, place: SaidPlace): Read | RecordProblem {
  const { content } = item;
  if (typeof content !== 'string' && !isList(content))
    return { problem: 'a message whose content is neither text nor a list' };
  const isOfAgent = type === 'agent_message';
  const givenRole = isOfAgent ? 'user' : item['role'];
  if (typeof givenRole !== 'string') return { problem: 'a message whose role is not a string' };
  const role = ROLES.get(givenRole) ?? 'user';
  const texts = contentTexts(content);
  const name = isOfAgent ? stringAt(item, 'author') : ROLES.has(givenRole) ? undefined : givenRole;
  const said = { ...place, role, parts: textParts(texts), name };
  const text = texts.join('\n');
  if (role === 'system')
    return say<CodexNote>(said, { kind: 'instruction', ...(texts.some(isSettingsText) && { note: UPDATE }) });
  if (role === 'assistant') return say(said, { note: { kind: 'said', wordsKey: wordsKey(role, text) } });
  if (isOfAgent) return say(said, { note: OPENS });
  const { author, opensTurn } = authorshipOf(texts);
  const note = opensTurn ? OPENS : UPDATE;
  if (author === 'codex-context') return say({ ...said, role: 'system' }, { kind: 'instruction', note });
  if (author === 'codex-notice') return say(said, { note });
  const hasMedia = isList(content) && content.length > texts.length;
  const isPrompt = name === undefined && (hasMedia || text.trim() !== '');
  const words = texts.map(withoutEditorContext);
  return say(
    { ...said, typed: isPrompt ? typedText(words) : undefined, ruleText: ruleWords(words) },
    { note: { ...OPENS, wordsKey: wordsKey('user', text) }, ...(isPrompt && { isPrompt }) },
  );
}

/**
 * The text of a tool's output: a string, content parts, or `{content}`. Older versions wrote `{"output": …,
 * "metadata": …}` as a JSON string; then it is the text under `output`.
 */
function outputText(output: Json | undefined): string {
  if (typeof output === 'string') {
    const value = output.startsWith('{"output":') ? parseText(output) : undefined;
    return isRecord(valueAt(value, 'metadata')) ? (stringAt(value, 'output') ?? output) : output;
  }
  if (isList(output)) return contentText(output);
  if (!isRecord(output)) return readPartText(output);
  const inner = output['content'] ?? output['output'];
  return inner === undefined ? JSON.stringify(output) : outputText(inner);
}

/**
 * The call of an item whose type ends in `_call`: of a function, a custom tool, a local shell or a search. Calls that
 * the server runs itself (a web search, a picture) have no output item and are identified by the item's id.
 * @throws RangeError if the arguments are nested too deeply to be written as JSON.
 */
function readCall(item: JsonRecord, type: string): MessagePart {
  const id = stringAt(item, 'call_id') ?? stringAt(item, 'id');
  const name = stringAt(item, 'name') ?? type.slice(0, -'_call'.length);
  const namespace = stringAt(item, 'namespace');
  const given =
    type === 'image_generation_call'
      ? { prompt: item['revised_prompt'] ?? null }
      : (item['arguments'] ?? item['input'] ?? item['action'] ?? {});
  return callPart(id, namespace === undefined ? name : `${namespace}.${name}`, argumentText(given));
}

/**
 * How a text written by Codex begins and ends, in lower case. Upper and lower case and surrounding space make no
 * difference.
 */
type Marks = readonly [start: string, end: string];

const tagged = (name: string): Marks => [`<${name}>`, `</${name}>`];

/**
 * Standing instructions and the environment, which Codex adds to a conversation as user messages; they apply until it
 * ends.
 */
const CONTEXT: readonly Marks[] = [
  ['# agents.md instructions', '</instructions>'],
  tagged('environment_context'),
  tagged('recommended_plugins'),
];

/** How versions of 2025 wrote AGENTS.md. Later versions count it as a prompt when they count turns. */
const FORMER_CONTEXT: readonly Marks[] = [tagged('user_instructions')];

/** Notices of what happened, written as user messages. */
const NOTICES: readonly Marks[] = [
  tagged('turn_aborted'),
  tagged('subagent_notification'),
  tagged('agent_message_board_notification'),
  tagged('user_shell_command'),
  tagged('skill'),
];

/** The end of a review: a notice from Codex that is a turn of its own. */
const TURN_NOTICES: readonly Marks[] = [tagged('user_action')];

/** These must match exactly, letter by letter. */
const INTERNAL_CONTEXT = /^<codex_internal_context source="[a-z][a-z0-9_]*">[^]*<\/codex_internal_context>$/;
const EXACT_NOTICES: readonly RegExp[] = [
  /^<goal_context>[^]*<\/goal_context>$/,
  /^<external_([^>]*)>[^]*<\/external_\1>$/,
  /^<hook_prompt\s+hook_run_id\s*=\s*"\s*[^\s"][^"]*"\s*>[^<]+<\/hook_prompt\s*>/i,
  /^Warning: The maximum number of unified exec processes you can keep open is/,
  /^Warning: Your account was flagged for potentially high-risk cyber activity/,
  /^Warning: apply_patch was requested via [^]*Use the apply_patch tool instead of exec_command\.$/,
];

/** Developer texts that Codex writes again when the settings of a turn differ; only their beginning matters. */
const SETTINGS =
  /^\s*<(?:permissions instructions|model_switch|(?:collaboration|multi_agent|persistent)_mode|realtime_conversation|(?:skills|plugins|apps|environments|managed_developer)_instructions|person[a]lity_spec|(?:token|rollout)_budget|context_window(?:_guidance)?)>/i;

/**
 * Who wrote a message of role user, judging by its texts. If Codex wrote one of them, all of the message is Codex's,
 * as in Codex itself (`matches_marked_text` in its source). A prompt that merely begins like one is a prompt.
 * `opensTurn`: Codex counts the message as the start of a turn.
 */
export function authorshipOf(texts: readonly string[]) {
  const trimmed = texts.map((text) => text.trim());
  const isBetween = (text: string, [start, end]: Marks): boolean =>
    text.slice(0, start.length).toLowerCase() === start && text.slice(-end.length).toLowerCase() === end;
  const isMarked = (marks: readonly Marks[]): boolean =>
    trimmed.some((text) => marks.some((one) => isBetween(text, one)));
  const isLike = (pattern: RegExp): boolean => trimmed.some((text) => pattern.test(text));
  const isContext = isMarked(CONTEXT) || isLike(INTERNAL_CONTEXT);
  const isNotice = isMarked(NOTICES) || EXACT_NOTICES.some(isLike);
  const opensTurn = !isContext && !isNotice;
  if (isContext || isMarked(FORMER_CONTEXT)) return { author: 'codex-context', opensTurn } as const;
  return { author: isNotice || isMarked(TURN_NOTICES) ? 'codex-notice' : 'person', opensTurn } as const;
}

export function isSettingsText(text: string): boolean {
  return SETTINGS.test(text);
}

/** What Codex's editor and desktop app add before a prompt, and the heading above the prompt. */
const EDITOR_CONTEXT = /^\s*# (?:Context from my IDE setup|Files mentioned by the user|In app browser)\b/;
const PROMPT_HEADING = '## My request for Codex:';
/** A text of its own before and after a pasted picture. */
const IMAGE_TAG = /^\s*<\/?image\b[^<>]*>\s*$/;

/** The prompt alone. The last heading counts, since the context before it quotes files. */
function withoutEditorContext(text: string): string {
  if (IMAGE_TAG.test(text)) return '';
  if (!EDITOR_CONTEXT.test(text)) return text;
  const at = text.lastIndexOf(PROMPT_HEADING);
  return at < 0 ? '' : text.slice(at + PROMPT_HEADING.length).trim();
}

const ENCRYPTED_TYPES = new Set(['compaction', 'compaction_summary', 'context_compaction']);
const ENCRYPTED =
  "Codex's own summary of what was said before is encrypted; only the service that wrote it can read it.";
const NOTHING = 'Codex compacted what was said before and left no text of it.';

/**
 * A `compacted` record: the summary that replaces everything before it or, in older versions, everything except
 * prompts.
 */
function decodeCompaction(payload: JsonRecord, place: SaidPlace): Read {
  const summary = decodeSummary(summaryText(payload), { ...place, id: undefined });
  return isList(payload['replacement_history']) ? summary : { ...summary, note: { kind: 'keeps-prompts' } };
}

/**
 * The text that a compaction left. Ours ends with its summary, which is all of the text. Otherwise it is one text, or
 * several, each with its role. Instructions are not included, since they are carried over as they are.
 */
function summaryText(payload: JsonRecord): string {
  const items = recordsAt(payload, 'replacement_history');
  const told = items.filter((item) => !isCarried(item)).flatMap(readTold);
  const last = items.slice(-1).flatMap(readTold)[0]?.text ?? '';
  if (isClipArchiveText(last)) return last;
  const isEncrypted = items.some(isEncryptedItem);
  const [only] = told;
  if (only !== undefined && told.length === 1 && !isEncrypted) return only.text;
  const blocks = [...told.map(({ role, text }) => `[${role}]\n${text}`), ...(isEncrypted ? [ENCRYPTED] : [])];
  if (blocks.length > 0) return blocks.join('\n\n');
  const message = stringAt(payload, 'message') ?? '';
  return message.trim() === '' ? NOTHING : message;
}

/**
 * The items of a compaction's history that a summary cannot replace: instructions, the environment, and encrypted
 * items. The next compaction carries them over into its own history.
 */
export function carriedItems(record: Json): readonly JsonRecord[] {
  const items = recordsAt(record, 'payload', 'replacement_history');
  return items.filter((item) => isCarried(item) || isEncryptedItem(item));
}

function isCarried(item: JsonRecord): boolean {
  const role = stringAt(item, 'role');
  if (role === 'developer' || role === 'system') return true;
  return role === 'user' && authorshipOf(contentTexts(item['content'])).author === 'codex-context';
}

function isEncryptedItem(item: JsonRecord): boolean {
  return ENCRYPTED_TYPES.has(stringAt(item, 'type') ?? '') && item['encrypted_content'] !== undefined;
}

function readTold(item: JsonRecord): readonly { readonly role: string; readonly text: string }[] {
  const role = stringAt(item, 'role');
  const text = contentText(item['content']);
  return role === undefined || text.trim() === '' ? [] : [{ role, text }];
}

/** Groups the items of one answer: all that the model says, thinks and calls until somebody else speaks. */
export function createAnswerTracker(): (read: Read, line: number) => Read {
  let key: string | null = null;
  return (read, line) => {
    if (read.note?.kind === 'answer') {
      key ??= `answer:${line}`;
    } else if (read.message?.role === 'assistant') {
      key ??= `answer:${line}`;
      return { ...read, groupKey: key };
    } else if (read.message !== undefined) {
      key = null;
    }
    return read;
  };
}

/** The latest of each of these events gives the thread's name, settings or goal. */
const PINNED = new Set(['thread_name_updated', 'thread_settings_applied', 'thread_goal_updated']);

const TURN_BEGINS = new Set(['task_started', 'turn_started']);
const TURN_ENDS = new Set(['task_complete', 'turn_complete', 'turn_aborted']);

/**
 * Decodes an event: a mirror of an item for the screen, the beginning or end of a turn, or something else. It is never
 * a message.
 */
function readEvent(event: JsonRecord): Read {
  const type = stringAt(event, 'type') ?? '';
  if (type === 'token_count')
    return { kind: 'meta', ...(isRecord(event['info']) && { note: { kind: 'context-size' } }) };
  const { num_turns: turns } = event;
  if (type === 'thread_rolled_back')
    return {
      kind: 'meta',
      note: { kind: 'rollback', turns: typeof turns === 'number' ? Math.max(0, Math.floor(turns)) : 0 },
    };
  if (PINNED.has(type)) return { kind: 'meta', latestKey: type };
  const note = attachmentOf(event, type);
  return { kind: 'meta', ...(note !== null && { note }) };
}

function attachmentOf(event: JsonRecord, type: string): Attachment | null {
  if (TURN_BEGINS.has(type)) return { kind: 'turn' };
  if (TURN_ENDS.has(type)) return { kind: 'last' };
  if (type.startsWith('agent_reasoning')) return { kind: 'answer' };
  if (type === 'user_message') return words('user', stringAt(event, 'message') ?? '');
  if (type === 'agent_message') return words('assistant', stringAt(event, 'message') ?? '');
  const { item } = event;
  if (isRecord(item)) return attachmentOfItem(item);
  const id = stringAt(event, 'call_id');
  return id === undefined ? null : { kind: 'call', id };
}

/** Newer versions mirror every item the same way: `item_completed {item: {type, id, …}}`. */
function attachmentOfItem(item: JsonRecord): Attachment | null {
  const type = stringAt(item, 'type') ?? '';
  if (type === 'UserMessage') return words('user', contentText(item['content']));
  if (type === 'AgentMessage') return words('assistant', contentText(item['content']));
  if (type === 'Reasoning') return { kind: 'answer' };
  const id = stringAt(item, 'call_id') ?? stringAt(item, 'id');
  return id === undefined ? null : { kind: 'call', id };
}

function words(role: string, text: string): Attachment {
  return { kind: 'words', key: wordsKey(role, text) };
}
