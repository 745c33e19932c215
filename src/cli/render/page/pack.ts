import { gzipSync } from 'node:zlib';
import type { ReportedMessage } from '../../../app/contract/file-report.ts';
import { OUTCOMES } from '../../../core/overview/strip.ts';
import { textLines } from '../text.ts';

/** The messages as blocks of gzip in base64. Each block unpacks to a JSON list; `index` to an object of lists. */
export type PackedMessages = {
  readonly index: string;
  readonly blocks: readonly string[];
  /** The number of the first message in each block, from 1. */
  readonly firsts: readonly number[];
  /** Longer texts were cut here. */
  readonly maxChars: number;
};

/** With this, 10,000 messages make a page of less than 4 MB. */
const MAX_PACKED_CHARS = 2_300_000;
const BLOCK_CHARS = 400_000;
const BLOCK_MESSAGES = 250;
const LIMITS = [64_000, 24_000, 12_000, 6_000, 3_000, 1_500, 800, 400, 200, 100, 40];
/** Packed texts are seldom longer than this share, so larger ones need not be tried. */
const USUAL_RATIO = 0.3;

/** Cuts long texts as much as is needed. */
export function packMessages(messages: readonly ReportedMessage[]): PackedMessages {
  const index = pack(indexOf(messages));
  let packed: PackedMessages = { index, blocks: [], firsts: [], maxChars: 0 };
  for (const maxChars of LIMITS) {
    const chars = messages.reduce((sum, { text }) => sum + Math.min(text.length, maxChars), 0);
    const isLast = maxChars === LIMITS.at(-1);
    if (chars * USUAL_RATIO > 2 * MAX_PACKED_CHARS && !isLast) continue;
    packed = { index, ...packTexts(messages, maxChars), maxChars };
    if (packed.blocks.reduce((sum, block) => sum + block.length, index.length) <= MAX_PACKED_CHARS) break;
  }
  return packed;
}

function packTexts(messages: readonly ReportedMessage[], maxChars: number): Pick<PackedMessages, 'blocks' | 'firsts'> {
  const blocks: string[] = [];
  const firsts: number[] = [];
  let texts: string[] = [];
  let chars = 0;
  const flush = (): void => {
    if (texts.length > 0) blocks.push(pack(texts));
    texts = [];
    chars = 0;
  };
  for (const { number, text } of messages) {
    if (texts.length === 0) firsts.push(number);
    const shown = textLines(text.slice(0, maxChars)).join('\n');
    texts.push(shown);
    chars += shown.length;
    if (chars >= BLOCK_CHARS || texts.length >= BLOCK_MESSAGES) flush();
  }
  flush();
  return { blocks, firsts };
}

/** What the page's script knows of the messages beside their texts: lists in the order of the messages. */
function indexOf(messages: readonly ReportedMessage[]): Record<string, readonly unknown[]> {
  const safe = (text: string): string => textLines(text).join(' ');
  return {
    id: messages.map(({ id }) => safe(id)),
    line: messages.map(({ line }) => line),
    role: messages.map(({ role }) => safe(role)),
    tools: messages.map(({ tools }) => safe(tools.join(', '))),
    at: messages.map(({ at }) => at ?? ''),
    tokens: messages.map(({ tokens }) => tokens),
    chars: messages.map(({ chars }) => chars),
    score: messages.map(({ score }) => (score === null ? null : Number(score.toFixed(2)))),
    why: messages.map(({ terms }) =>
      terms.map(({ name, value }) => `${safe(name.replace('keyword:', ''))} +${value.toFixed(1)}`).join(', '),
    ),
    outcome: messages.map(({ outcome }) => OUTCOMES.indexOf(outcome)),
    cycle: messages.map(({ cycle }) => cycle ?? 0),
    batch: messages.map(({ batch }) => safe(batch ?? '')),
    isRequest: messages.map(({ isRequest }) => (isRequest ? 1 : 0)),
  };
}

const OS_BYTE = 9;
const UNKNOWN_OS = 255;

/** The header of gzip names the operating system; without it, every machine makes the same bytes. */
function pack(value: unknown): string {
  const packed = gzipSync(JSON.stringify(value));
  packed[OS_BYTE] = UNKNOWN_OS;
  return packed.toString('base64');
}
