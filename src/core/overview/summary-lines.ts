import type { ConversationMessage } from '../message.ts';

/** A line of a clip-archive. `source`: the position of the message that it quotes, from 0; null: none was found. */
export type SummaryLine = {
  readonly kind: 'head' | 'heading' | 'label' | 'text' | 'blank';
  readonly text: string;
  readonly source: number | null;
};

/** Splits a clip-archive into lines, and finds for each line of text a message that contains its words. */
export function readSummaryLines(
  text: string,
  { messages, isLeft }: { messages: readonly ConversationMessage[]; isLeft: (at: number) => boolean },
): readonly SummaryLine[] {
  // Looks for quotations in what people and models said, then in calls and results. Messages that left are searched first. White space, list
  // marks, heading marks and escapes do not matter.
  const order = [...messages.keys()].sort((a, b) => Number(isLeft(b)) - Number(isLeft(a)) || a - b);
  const said: Piece[] = [];
  const tools: Piece[] = [];
  for (const at of order) {
    const message = messages[at];
    if (message === undefined) continue;
    if (message.typed !== undefined) said.push({ at, text: message.typed });
    if (message.role === 'tool' || message.tool_calls !== undefined || message.parts !== undefined) {
      tools.push({ at, text: message.content });
      for (const part of message.parts ?? []) if (part.kind === 'text') said.push({ at, text: part.text });
    } else said.push({ at, text: message.content });
  }
  const searches = [createSearch(said), createSearch(tools)];
  const find = (line: string) => {
    for (const needle of needlesOf(line)) {
      for (const search of searches) {
        const found = search(needle);
        if (found !== null) return found;
      }
    }
    return null;
  };
  return text.split('\n').map((line, at): SummaryLine => {
    const kind = kindOf(line, at);
    return { kind, text: line, source: kind === 'text' ? find(line) : null };
  });
}

function kindOf(line: string, at: number): SummaryLine['kind'] {
  if (line.trim() === '') return 'blank';
  if (at === 0) return 'head';
  if (line.startsWith('## ')) return 'heading';
  return /^\[[^\]]*\]$/.test(line) ? 'label' : 'text';
}

// The hand-over reads this much of a tool's output.
const MAX_MESSAGE_CHARS = 60_000;
const MIN_NEEDLE_CHARS = 8;
const MAX_NEEDLE_CHARS = 200;

type Piece = { readonly at: number; readonly text: string };

function createSearch(pieces: readonly Piece[]): (needle: string) => number | null {
  const starts: number[] = [];
  const texts: string[] = [];
  let length = 0;
  for (const { text } of pieces) {
    const plain = normalize(text.slice(0, MAX_MESSAGE_CHARS));
    starts.push(length);
    texts.push(plain);
    length += plain.length + 1;
  }
  const whole = texts.join('\n');
  return (needle) => {
    const found = whole.indexOf(needle);
    if (found < 0) return null;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((starts[middle] ?? 0) <= found) low = middle;
      else high = middle - 1;
    }
    return pieces[low]?.at ?? null;
  };
}

/** Marks in front of a quotation: of a list, an ending, a command, an error, a speaker, a remark in parentheses. */
const MARK =
  /^(?:`[^`]{1,90}` (?:printed|has|now has|shows|answered):|\d{1,6}[.)]|[-*+•→>$“`]|\([^)“]{1,60}\)|\((?:answers: )?“|[\p{L}\p{N}][^:"“\n]{0,39}:|[{[\\"])\s*/u;

/** What a line quotes, most exact first: all of it, then its parts between the marks that we put in. */
function needlesOf(line: string): readonly string[] {
  const whole = normalize(line.replaceAll(/ \((?:message \d+|added by hand|\d+ more characters)\)/g, ''));
  const bare = withoutMarks(whole);
  const parts = whole
    .split(/ ?(?:…|→|\.{3}|”|`; `|:\*\* |\*\*: ) ?/)
    .flatMap(withoutMarks)
    .sort((a, b) => b.length - a.length);
  const needles = [...bare, ...parts]
    .map((part) => part.replace(/["”`\s]+$/, ''))
    .filter((part) => part.length >= MIN_NEEDLE_CHARS)
    .map((part) => part.slice(0, MAX_NEEDLE_CHARS));
  return [...new Set(needles)];
}

/** A text, and what is left of it without each of its marks. */
function withoutMarks(text: string): readonly string[] {
  const texts = [text.trim()];
  for (let rest = text, next = rest.replace(MARK, ''); next !== rest; rest = next, next = rest.replace(MARK, ''))
    texts.push(next.trim());
  return texts;
}

/** JSON escapes count as what they stand for, so that a quotation is found in a call's arguments. */
function normalize(text: string): string {
  return text
    .replaceAll(/\\[nrt]/g, ' ')
    .replaceAll(/\\(?=["\\#[])/g, '')
    .replaceAll(/(^|\s)#{1,6}\s/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
