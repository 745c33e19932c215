import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { contentText, readPartText } from '../message-parts.ts';

/** The place of an item, and the time of the record around it. */
export type ItemPlace = { readonly line: number; readonly at: Date | null };

/**
 * The text of a tool's output: a string, content parts, or `{content}`. Older versions wrote `{"output": …,
 * "metadata": …}` as a JSON string; then it is the text under `output`.
 */
export function outputText(output: Json | undefined): string {
  if (typeof output === 'string') return unwrapShellOutput(output);
  if (isList(output)) return contentText(output);
  if (!isRecord(output)) return readPartText(output);
  const inner = output['content'] ?? output['output'];
  return inner === undefined ? JSON.stringify(output) : outputText(inner);
}

function unwrapShellOutput(text: string): string {
  if (!text.startsWith('{"output":')) return text;
  try {
    const value: Json = JSON.parse(text);
    if (!isRecord(value) || !isRecord(value['metadata'])) return text;
    return stringAt(value, 'output') ?? text;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** A call that an item makes. `arguments` is the text in the item, or JSON. */
type Call = { readonly id?: string; readonly name: string; readonly arguments: string };

/** Where each kind of call has its arguments. */
const ARGUMENT_KEYS = ['arguments', 'input', 'action'];

/**
 * The call of an item whose type ends in `_call`: of a function, a custom tool, a local shell or a search. Calls that
 * the server runs itself (a web search, a picture) have no output item and are identified by the item's id.
 * @throws RangeError if the arguments are nested too deeply to be written as JSON.
 */
export function readCall(item: JsonRecord, type: string): Call {
  const id = stringAt(item, 'call_id') ?? stringAt(item, 'id');
  const name = stringAt(item, 'name') ?? type.slice(0, -'_call'.length);
  const namespace = stringAt(item, 'namespace');
  return {
    ...(id !== undefined && { id }),
    name: namespace === undefined ? name : `${namespace}.${name}`,
    arguments: argumentText(item, type),
  };
}

function argumentText(item: JsonRecord, type: string): string {
  if (type === 'image_generation_call') return JSON.stringify({ prompt: item['revised_prompt'] ?? null });
  const given = ARGUMENT_KEYS.map((key) => item[key]).find((value) => value !== undefined && value !== null);
  if (given === undefined) return '{}';
  return typeof given === 'string' ? given : JSON.stringify(given);
}

/** The names of the tools that a search found. */
export function toolNames(tools: readonly Json[]): string {
  return tools.flatMap((tool) => (isRecord(tool) ? (stringAt(tool, 'name') ?? []) : [])).join('\n');
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

type Authorship = {
  readonly author: 'person' | 'codex-context' | 'codex-notice';
  /** Whether Codex counts the message as the start of a turn. */
  readonly opensTurn: boolean;
};

/**
 * Who wrote a message of role user, judging by its texts. If Codex wrote one of them, all of the message is Codex's,
 * as in Codex itself (`matches_marked_text` in its source). A prompt that merely begins like one is a prompt.
 */
export function authorshipOf(texts: readonly string[]): Authorship {
  const trimmed = texts.map((text) => text.trim());
  const isMarked = (marks: readonly Marks[]): boolean =>
    trimmed.some((text) => marks.some((one) => isBetween(text, one)));
  const isLike = (pattern: RegExp): boolean => trimmed.some((text) => pattern.test(text));
  const isContext = isMarked(CONTEXT) || isLike(INTERNAL_CONTEXT);
  const isNotice = isMarked(NOTICES) || EXACT_NOTICES.some(isLike);
  const opensTurn = !isContext && !isNotice;
  if (isContext || isMarked(FORMER_CONTEXT)) return { author: 'codex-context', opensTurn };
  return { author: isNotice || isMarked(TURN_NOTICES) ? 'codex-notice' : 'person', opensTurn };
}

function isBetween(text: string, [start, end]: Marks): boolean {
  return text.slice(0, start.length).toLowerCase() === start && text.slice(-end.length).toLowerCase() === end;
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
export function withoutEditorContext(text: string): string {
  if (IMAGE_TAG.test(text)) return '';
  if (!EDITOR_CONTEXT.test(text)) return text;
  const at = text.lastIndexOf(PROMPT_HEADING);
  return at < 0 ? '' : text.slice(at + PROMPT_HEADING.length).trim();
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * A short key for the words of a message, to find the record nearby that repeats them. White space is ignored: a
 * message has one part for each thing typed, its mirror has one text. Two texts with the same key do harm only if they
 * are next to each other.
 */
export function wordsKey(role: string, text: string): string {
  const words = text.replace(/\s+/g, '');
  let hash = FNV_OFFSET;
  for (let at = 0; at < words.length; at += 1) hash = Math.imul(hash ^ words.charCodeAt(at), FNV_PRIME);
  return `${role}:${words.length}:${(hash >>> 0).toString(36)}`;
}

const WORLD_STATE = 'world_state';

/**
 * Codex records the whole environment of a thread, then each change, and works out from both what it has told the
 * model. The latest full record and every change since must stay, so each change has its own key.
 */
export function worldStateKey(changes: number): string {
  return changes === 0 ? WORLD_STATE : `${WORLD_STATE}+${changes}`;
}

export function isBaseline(latestKey: string | undefined): boolean {
  return latestKey === 'turn_context' || latestKey?.startsWith(WORLD_STATE) === true;
}

/**
 * The message that a record without words of its own goes or stays with. call: the one that makes or answers the call. words: the one nearby
 * with the same words. answer: the model's next words or call. next: the next message. turn: the last message of the turn that begins
 * here. last: the message before it.
 */
export type Attachment =
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

export type NoteOf = (line: number) => CodexNote | undefined;
