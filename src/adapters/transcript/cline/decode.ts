import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { typedText } from '../message-parts.ts';

/** What both programs put around the words of a person. */
const TYPED = /<(task|user_message|feedback|answer)>\n?([\s\S]*?)\n?<\/\1>/g;
const STARTS_TYPED =
  /^\s*(?:<(?:task|user_message|feedback|answer)>|\[TASK RESUMPTION\]|The user (?:denied|has provided))/;
/** Before the tools of the API were used, a result was a line like this and a block with the output. */
const RESULT_LINE = /^\[(\w+)[^\n]*\] Result:\s*/;
/** Tools whose result is what a person answered. */
const ASKING = new Set(['ask_followup_question', 'attempt_completion', 'plan_mode_respond', 'new_task', 'condense']);

/**
 * What a person typed in a user's record: the words in the tags that Cline and Roo Code put around them, also in
 * answers to a question and in a denied call. Output of other tools may contain such tags and is not searched.
 * In sessions of newer Clines a text is a person's, unless it has a tag of Cline's.
 */
export function readTyped({ content = null, metadata }: JsonRecord, isSession: boolean): string | undefined {
  if (isRecord(metadata) && metadata['displayRole'] === 'system') return undefined;
  const blocks = isList(content) ? content : [content];
  const typed: string[] = [];
  let isOutput = false;
  for (const block of blocks) {
    const text = typeof block === 'string' ? block : textOf(block);
    const tool = RESULT_LINE.exec(text);
    const rest = text.replace(RESULT_LINE, '');
    const wasOutput: boolean = isOutput;
    isOutput = tool !== null && rest === '' && !ASKING.has(tool[1] ?? '');
    if (tool !== null && !ASKING.has(tool[1] ?? '') && !isDenial(rest)) continue;
    if (wasOutput && !isDenial(rest)) continue;
    if (isRecord(block) && block['type'] === 'tool_result') typed.push(...wordsIn(rest), ...feedbackIn(rest));
    else typed.push(...(isSession ? wordsOfSession(rest) : wordsIn(rest)));
  }
  return typedText(typed.map((text) => text.trim()));
}

function textOf(block: Json): string {
  if (!isRecord(block)) return '';
  if (block['type'] !== 'tool_result') return stringAt(block, 'text') ?? '';
  const { content } = block;
  if (typeof content === 'string') return content;
  return isList(content)
    ? content.map((part) => (isRecord(part) ? (stringAt(part, 'text') ?? '') : '')).join('\n')
    : '';
}

function isDenial(text: string): boolean {
  return text.startsWith('The user denied');
}

function wordsIn(text: string): readonly string[] {
  if (!STARTS_TYPED.test(text)) return [];
  return Array.from(text.matchAll(TYPED), ([, , words = '']) => words);
}

const USER_INPUT = /<user_input\b[^>]*>([\s\S]*)<\/user_input>/;
const CLINES_TAG = /^\s*<(?:SYSTEM_NOTICE|mode_notice|file_content|environment_details|user_command)\b/;

function wordsOfSession(text: string): readonly string[] {
  const [, words] = USER_INPUT.exec(text) ?? [];
  if (words !== undefined) return [words];
  return CLINES_TAG.test(text) ? [] : [text];
}

const SURROUNDINGS = /^\s*<environment_details>/;
const PROMPT = /^\s*<(task|user_message|user_input)\b[^>\n]*>\n?([\s\S]*?)\n?<\/\1>/;

/**
 * What may state rules: the first block of a record that answers no call, in the tag that both programs put around a prompt, up to its first
 * end. What stands behind it, or in later blocks, may quote a file, a page or a tool. A list without a session could be the log of any chat in
 * which somebody wrote such a tag; both programs add their surroundings as a block of their own, which the text of one message cannot.
 */
export function readRuleText({ content = null }: JsonRecord, isSession: boolean): string | undefined {
  const blocks = isList(content) ? content : [content];
  if (blocks.some((block) => isRecord(block) && block['type'] === 'tool_result')) return undefined;
  const [first = null, ...rest] = blocks;
  if (!isSession && !rest.some((block) => SURROUNDINGS.test(textOf(block)))) return undefined;
  return PROMPT.exec(typeof first === 'string' ? first : textOf(first))?.[2];
}

/** Roo Code's answer to a call that a person denied or commented on: `{status, feedback}`. */
function feedbackIn(text: string): readonly string[] {
  if (!text.startsWith('{"status":')) return [];
  try {
    const answer: Json = JSON.parse(text);
    const feedback = isRecord(answer) ? stringAt(answer, 'feedback') : undefined;
    return feedback === undefined ? [] : [feedback];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
