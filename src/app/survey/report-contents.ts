import { formatTime } from '../../core/batch.ts';
import { clipArchiveBody } from '../../core/clip-archive.ts';
import { excerptOf } from '../../core/handover/excerpt.ts';
import { readConversation } from '../../core/handover/turns.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { callLines, callsBefore } from '../../core/prompt.ts';
import { resultOf } from '../summarize/redacting-model.ts';
import { readSummaryLines } from '../../core/overview/summary-lines.ts';
import { countTokenTree, type TokenNode } from '../../core/overview/token-tree.ts';
import type { TranscriptPolicy } from '../../core/policy.ts';
import { auditRetention } from '../../core/retention/audit.ts';
import { findRules, parseRules, type Rule } from '../../core/standing-rules/rules.ts';
import type {
  FileReport,
  PlacedOutcome,
  ReportedAudit,
  ReportedMessage,
  ReportedRequest,
} from '../contract/file-report.ts';
import type { IndexedTranscript } from '../read/prepare.ts';
import { scoreRows } from './score-file.ts';

/** Longer texts are cut: nobody reads more of one message on a page. */
const MAX_TEXT_CHARS = 64_000;
const MAX_REQUEST_CHARS = 400;
const MAX_ENDING_CHARS = 240;

type Mask = (text: string, before?: string) => string;

type Contents = Pick<FileReport, 'messages' | 'tree' | 'rules' | 'requests' | 'summaries' | 'audit'>;

type ContentsInput = {
  readonly policy: TranscriptPolicy;
  readonly outcomeOf: (line: number) => PlacedOutcome;
  /** The texts of the clip-archives. */
  readonly clips: readonly string[];
  /** Whether the transcript is the original, so that the sources of the summaries are in it. */
  readonly isOriginal: boolean;
  readonly mask: Mask;
};

/** What was said in a transcript, and what its summaries made of it. */
export function describeContents(transcript: IndexedTranscript, input: ContentsInput): Contents {
  const { clips, isOriginal, mask } = input;
  const said = readSaid(transcript);
  const spoken = said.map(({ message }) => message);
  const messages = reportMessages(transcript, said, input);
  const numberOf = new Map(spoken.map(({ id }, at) => [id, at + 1]));
  const hasLeft = (at: number) => messages[at]?.outcome === 'summarized' || messages[at]?.outcome === 'archived';
  const summarized = spoken.filter((_, at) => messages[at]?.outcome === 'summarized');
  const sources = { messages: isOriginal ? spoken : [], isLeft: hasLeft };
  return {
    messages,
    tree: maskTree(countTokenTree(spoken), mask),
    rules: readRules(transcript, said, input).map(({ text, message }) => ({ text: mask(text), message })),
    requests: readRequests(spoken, numberOf, mask),
    summaries: clips.map((clip) =>
      // Masked as a whole, because a secret may cover several lines.
      readSummaryLines(mask(clip), sources).map(({ kind, text, source }) => ({
        kind,
        text,
        source: source === null ? null : source + 1,
      })),
    ),
    audit: clips.length === 0 || summarized.length === 0 ? null : reportAudit(clips, summarized, { numberOf, mask }),
  };
}

function reportMessages(
  transcript: IndexedTranscript,
  said: readonly Said[],
  { policy, outcomeOf, mask }: ContentsInput,
): readonly ReportedMessage[] {
  const scored = scoreRows(transcript, { policy, selectShown: () => [], explainsAll: true });
  const rows = new Map(scored.map((row) => [row.line, row]));
  const toolsOf = createToolFinder();
  const calls = callLines(said.map(({ message }) => message));
  return said.map(({ line, tokens, message }, at) => ({
    ...outcomeOf(line),
    number: at + 1,
    id: message.id,
    line,
    role: message.role,
    tools: toolsOf(message).map((tool) => mask(tool)),
    at: formatTime(message.created_at),
    tokens,
    score: rows.get(line)?.score ?? null,
    terms: rows.get(line)?.terms ?? [],
    isRequest: message.typed !== undefined,
    text: mask(message.content, resultOf(callsBefore(message, calls))).slice(0, MAX_TEXT_CHARS),
    chars: message.content.length,
  }));
}

function reportAudit(
  clips: readonly string[],
  summarized: readonly ConversationMessage[],
  { numberOf, mask }: { numberOf: ReadonlyMap<string, number>; mask: Mask },
): ReportedAudit {
  const { kept, total, lost } = auditRetention({ summary: clips.join('\n'), messages: summarized });
  const named = lost.map(({ kind, text, messageId }) => ({
    kind,
    text: mask(text),
    message: numberOf.get(messageId) ?? null,
  }));
  return { kept, total, lost: named };
}

type Said = { readonly line: number; readonly tokens: number; readonly message: ConversationMessage };

/** Every message of the file, in its order, without our own clip-archives. */
function readSaid({ recordIndex, readMessage }: IndexedTranscript): readonly Said[] {
  return recordIndex.entries.flatMap((entry): readonly Said[] => {
    const { kind, line, tokens = 0, sha256 } = entry;
    if (sha256 !== undefined || (kind !== 'message' && kind !== 'instruction' && kind !== 'summary')) return [];
    const message = readMessage(entry);
    return message === null ? [] : [{ line, tokens, message }];
  });
}

function createToolFinder(): (message: ConversationMessage) => readonly string[] {
  const names = new Map<string, string>();
  return ({ parts = [], tool_calls: calls = [], tool_call_id: answered }) => {
    const found = new Set<string>();
    const add = (id: string, name: string): void => {
      names.set(id, name);
      found.add(name);
    };
    for (const part of parts) {
      if (part.kind === 'call') add(part.id, part.name);
      if (part.kind === 'result') found.add(names.get(part.callId) ?? '');
    }
    for (const call of calls) add(call.id, 'function' in call ? call.function.name : call.name);
    if (answered !== undefined) found.add(names.get(answered) ?? '');
    return [...found].filter((name) => name !== '');
  };
}

function maskTree({ name, tokens, children }: TokenNode, mask: Mask): TokenNode {
  return { name: mask(name), tokens, children: children.map((child) => maskTree(child, mask)) };
}

/** The rules in the clip-archives; where there are none, those that people typed. `message`: the number of the message that states it. */
function readRules({ conversations }: IndexedTranscript, said: readonly Said[], { clips, isOriginal }: ContentsInput) {
  const placeOf = new Map(said.map(({ line }, at) => [line, at]));
  const typedAt = (at: number | undefined) => (at === undefined ? undefined : said[at]?.message.ruleText);
  return (clips.length > 0 ? clips : conversations).flatMap((_, at) => {
    const places = conversations[at]?.view.messages.map(({ line }) => placeOf.get(line)) ?? [];
    const typed = places.flatMap((place, index) => {
      const text = typedAt(place);
      return text === undefined ? [] : [{ index: index + 1, text }];
    });
    const clip = clips[at];
    const rules: readonly Rule[] =
      clip === undefined ? findRules(typed) : parseRules(clipArchiveBody(clip) ?? '').rules;
    return rules.map(({ text, index }) => {
      const place = isOriginal && index !== null ? places[index - 1] : undefined;
      return { text, message: typedAt(place) === undefined || place === undefined ? null : place + 1 };
    });
  });
}

function readRequests(messages: readonly ConversationMessage[], numberOf: ReadonlyMap<string, number>, mask: Mask) {
  return readConversation(messages).turns.flatMap(({ request, ending }): readonly ReportedRequest[] => {
    const message = request === null ? undefined : numberOf.get(request.messageId);
    if (request === null || message === undefined) return [];
    const end = ending === null ? undefined : numberOf.get(ending.messageId);
    const text = maskedExcerpt(mask, request.text, MAX_REQUEST_CHARS);
    if (ending === null || end === undefined) return [{ message, text, ending: null }];
    return [{ message, text, ending: { message: end, text: maskedExcerpt(mask, ending.text, MAX_ENDING_CHARS) } }];
  });
}

/** Masked before it is cut: half a secret is not recognized. */
function maskedExcerpt(mask: Mask, text: string, maxChars: number): string {
  return excerptOf(mask(text), { maxChars });
}
