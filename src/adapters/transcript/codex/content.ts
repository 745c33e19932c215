import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { readPartText } from '../message-parts.ts';

/** Where an item stands; Codex dates the record around it. */
export type ItemPlace = { readonly line: number; readonly at: Date | null };

/** The texts of a message's content, one a part; images, audio and encrypted parts have none. */
export function textsOf(content: Json | undefined): readonly string[] {
  return (isList(content) ? content : [content]).map(readPartText).filter((text) => text !== '');
}

/**
 * The text of a tool's output: a string, content parts, or `{content}`. Older versions wrote `{"output": …, "metadata": …}` as a JSON
 * string: there it is what stands under `output`.
 */
export function outputText(output: Json | undefined): string {
  if (typeof output === 'string') return unwrapShellOutput(output);
  if (isList(output)) return textsOf(output).join('\n');
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

/** A call that an item makes. `arguments` is text as it stands there, or JSON. */
type Call = { readonly id?: string; readonly name: string; readonly arguments: string };

/** Where the arguments of the kinds of calls stand; a kind that is not named here has `arguments`, `input` or `action`. */
const ARGUMENT_KEYS = ['arguments', 'input', 'action'];

/**
 * The call of an item whose type ends in `_call`: a function's, a custom tool's, a local shell's, a search's. Those that the server runs
 * itself (a web search, a picture) have no output of their own and are known by the item's id.
 * @throws RangeError where its arguments are nested too deeply to be written as JSON.
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

/** The names of the tools that a search has found. */
export function toolNames(tools: readonly Json[]): string {
  return tools.flatMap((tool) => (isRecord(tool) ? (stringAt(tool, 'name') ?? []) : [])).join('\n');
}

/** How a text that Codex wrote begins and ends, in lower case; letters count in either case, and space around it does not. */
type Marks = readonly [start: string, end: string];

const tagged = (name: string): Marks => [`<${name}>`, `</${name}>`];

/** Standing orders and surroundings, which Codex puts into a conversation as the user's words; they hold until it ends. */
const CONTEXT: readonly Marks[] = [
  ['# agents.md instructions', '</instructions>'],
  tagged('environment_context'),
  tagged('recommended_plugins'),
];

/** As versions of 2025 told AGENTS.md; later ones take it for a prompt when they count turns. */
const FORMER_CONTEXT: readonly Marks[] = [tagged('user_instructions')];

/** What happened, told in the user's name. */
const NOTICES: readonly Marks[] = [
  tagged('turn_aborted'),
  tagged('subagent_notification'),
  tagged('agent_message_board_notification'),
  tagged('user_shell_command'),
  tagged('skill'),
];

/** A review that has ended: told by Codex, and a turn of its own. */
const TURN_NOTICES: readonly Marks[] = [tagged('user_action')];

/** These must be as Codex writes them, to the letter. */
const INTERNAL_CONTEXT = /^<codex_internal_context source="[a-z][a-z0-9_]*">[^]*<\/codex_internal_context>$/;
const EXACT_NOTICES: readonly RegExp[] = [
  /^<goal_context>[^]*<\/goal_context>$/,
  /^<external_([^>]*)>[^]*<\/external_\1>$/,
  /^<hook_prompt\s+hook_run_id\s*=\s*"\s*[^\s"][^"]*"\s*>[^<]+<\/hook_prompt\s*>/i,
  /^Warning: The maximum number of unified exec processes you can keep open is/,
  /^Warning: Your account was flagged for potentially high-risk cyber activity/,
  /^Warning: apply_patch was requested via [^]*Use the apply_patch tool instead of exec_command\.$/,
];

/** Developer texts that Codex writes anew when a turn's settings differ; only their beginning counts. */
const SETTINGS =
  /^\s*<(?:permissions instructions|model_switch|(?:collaboration|multi_agent|persistent)_mode|realtime_conversation|(?:skills|plugins|apps|environments|managed_developer)_instructions|person[a]lity_spec|(?:token|rollout)_budget|context_window(?:_guidance)?)>/i;

type Authorship = {
  readonly author: 'person' | 'codex-context' | 'codex-notice';
  /** Whether Codex counts the message as the beginning of a turn. */
  readonly opensTurn: boolean;
};

/**
 * Who wrote a message of role user, by its texts: one that Codex wrote makes all of it Codex's, as Codex itself reads it
 * (`matches_marked_text` in its source). A prompt that only begins like one is a prompt.
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

/** What Codex's editor and desktop app put before a prompt, and the heading with which the prompt begins. */
const EDITOR_CONTEXT = /^\s*# (?:Context from my IDE setup|Files mentioned by the user|In app browser)\b/;
const PROMPT_HEADING = '## My request for Codex:';
/** Stands around a pasted picture as a text of its own. */
const IMAGE_TAG = /^\s*<\/?image\b[^<>]*>\s*$/;

/** The prompt alone. The last heading counts: the context before it holds text of files. */
export function withoutEditorContext(text: string): string {
  if (IMAGE_TAG.test(text)) return '';
  if (!EDITOR_CONTEXT.test(text)) return text;
  const at = text.lastIndexOf(PROMPT_HEADING);
  return at < 0 ? '' : text.slice(at + PROMPT_HEADING.length).trim();
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * A short name for the words of a message, by which the record that repeats them is found near it. White space does not count: a message
 * has one part for each thing typed, its mirror one text. Two texts with one name do no harm but where they stand next to each other.
 */
export function wordsKey(role: string, text: string): string {
  const words = text.replace(/\s+/g, '');
  let hash = FNV_OFFSET;
  for (let at = 0; at < words.length; at += 1) hash = Math.imul(hash ^ words.charCodeAt(at), FNV_PRIME);
  return `${role}:${words.length}:${(hash >>> 0).toString(36)}`;
}

const WORLD_STATE = 'world_state';

/**
 * Codex notes all of a thread's surroundings, then what changes in them, and from both knows what it has told the model. The latest
 * full note and every change since stay, so each change has a key of its own.
 */
export function worldStateKey(changes: number): string {
  return changes === 0 ? WORLD_STATE : `${WORLD_STATE}+${changes}`;
}

export function isBaseline(latestKey: string | undefined): boolean {
  return latestKey === 'turn_context' || latestKey?.startsWith(WORLD_STATE) === true;
}
