import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { isKimiRole, type Said } from './record.ts';
import { listCalls } from './tool-calls.ts';

/** Columns that a summary needs where every message has them. */
export const OWN_KEYS = ['id', 'conversation_id', 'created_at', 'timestamp'] as const;
export type OwnKey = (typeof OWN_KEYS)[number];

/** The values of a record that the order of rows depends on. */
export type Times = { readonly [key in OwnKey]?: Json };

/** What all lines of a file together tell of how its records are written. */
export type Survey = {
  /** A record of Kimi's own, which is no message. */
  readonly noteKimi: () => void;
  readonly noteSaid: (said: Said, isSummary: boolean) => void;
  readonly hasKimi: () => boolean;
  /** Whether records are Anthropic's: blocks in their content, and no role for a system's words. */
  readonly hasBlocks: () => boolean;
  /** The columns that every message of a conversation has. */
  readonly keysOf: (conversation: string) => ReadonlySet<OwnKey>;
  /** Of the first instruction that comes after other messages: it stays, and a summary must not be later. */
  readonly laterInstructionOf: (conversation: string) => Times | null;
};

type Tally = {
  hasBegun: boolean;
  messages: number;
  readonly keys: Map<OwnKey, number>;
  laterInstruction: Times | null;
};

export function createSurvey(): Survey {
  const tallies = new Map<string, Tally>();
  const marks = { kimi: false, blocks: 0, openai: 0 };
  return {
    noteKimi: () => {
      marks.kimi = true;
    },
    noteSaid: (said, isSummary) => {
      if (isKimiRole(said.givenRole)) marks.kimi = true;
      if (hasAnthropicBlocks(said.record)) marks.blocks += 1;
      if (hasOpenAiShape(said)) marks.openai += 1;
      tally(tallies, said, isSummary);
    },
    hasKimi: () => marks.kimi,
    hasBlocks: () => !marks.kimi && marks.blocks > marks.openai,
    keysOf: (conversation) => {
      const { messages = 0, keys } = tallies.get(conversation) ?? {};
      return new Set(OWN_KEYS.filter((key) => messages > 0 && keys?.get(key) === messages));
    },
    laterInstructionOf: (conversation) => tallies.get(conversation)?.laterInstruction ?? null,
  };
}

function tally(tallies: Map<string, Tally>, { record, role, conversation = '' }: Said, isSummary: boolean): void {
  const known = tallies.get(conversation) ?? { hasBegun: false, messages: 0, keys: new Map(), laterInstruction: null };
  tallies.set(conversation, known);
  if (isSummary) {
    known.hasBegun = true;
  } else if (role !== 'system') {
    known.hasBegun = true;
    known.messages += 1;
    for (const key of OWN_KEYS) {
      if ((record[key] ?? null) !== null) known.keys.set(key, (known.keys.get(key) ?? 0) + 1);
    }
  } else if (known.hasBegun) {
    known.laterInstruction ??= { created_at: record['created_at'] ?? null, timestamp: record['timestamp'] ?? null };
  }
}

const ANTHROPIC_BLOCK = /tool_use$|tool_result$|^(?:redacted_)?thinking$/;
const OPENAI_PART = /^(?:image_url|input_audio|input_text|output_text|refusal)$/;

function hasAnthropicBlocks({ content, type }: JsonRecord): boolean {
  if (type === 'message') return true;
  return someBlock(content, (block, kind) => {
    const isMedia = kind === 'image' || kind === 'document';
    return ANTHROPIC_BLOCK.test(kind) || (isMedia && isRecord(block['source']));
  });
}

function hasOpenAiShape({ record, role }: Said): boolean {
  if (role === 'tool' || isRecord(record['function_call'])) return true;
  if ((listCalls(record['tool_calls']) ?? []).some((call) => isRecord(call['function']))) return true;
  return someBlock(record['content'], (_, kind) => OPENAI_PART.test(kind));
}

function someBlock(content: Json | undefined, matches: (block: JsonRecord, kind: string) => boolean): boolean {
  return isList(content) && content.some((block) => isRecord(block) && matches(block, stringAt(block, 'type') ?? ''));
}
