import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';

const REJECTED = "The user doesn't want to proceed with this tool use.";
const WORDS_FOLLOW = 'To tell you how to proceed, the user said:\n';
/** What newer versions add below the words. */
const CLIENT_NOTE = "\n\nNote: The user's next message may contain";
/** The client's own words where a person wants to talk about questions; the questions are the model's. */
const QUESTIONS = 'The user wants to clarify these questions.';

/**
 * What a person wrote on rejecting a tool call. Only where the record itself says that the call was rejected: any tool can print the
 * sentence.
 */
export function rejectionWords(record: JsonRecord, content: Json | undefined): string | undefined {
  if (record['isSidechain'] === true || !isList(content) || content.length !== 1) return undefined;
  const [block = null] = content;
  if (!isRecord(block) || block['type'] !== 'tool_result' || block['is_error'] !== true) return undefined;
  const text = stringAt(block, 'content') ?? '';
  if (!text.startsWith(REJECTED) || !isMarked(record, text)) return undefined;
  const at = text.indexOf(WORDS_FOLLOW);
  if (at < 0) return undefined;
  const words = text.slice(at + WORDS_FOLLOW.length);
  const note = words.lastIndexOf(CLIENT_NOTE);
  const said = (note < 0 ? words : words.slice(0, note)).trim();
  return said === '' || said.startsWith(QUESTIONS) ? undefined : said;
}

/** Newer versions name the kind of denial; older ones repeat the whole text as the error of the call. */
function isMarked(record: JsonRecord, text: string): boolean {
  const result = record['toolUseResult'];
  return (
    record['toolDenialKind'] === 'user-rejected' || result === 'User rejected tool use' || result === `Error: ${text}`
  );
}

/** A call whose error is text from outside and stands in a record just as a rejection does: of an MCP server, or of version 1's shell. */
export function canForgeRejection(record: JsonRecord, callName: string): boolean {
  return callName.startsWith('mcp__') || (callName === 'Bash' && (stringAt(record, 'version') ?? '').startsWith('1.'));
}
