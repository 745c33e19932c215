import { safeCut } from '../extract/character.ts';
import { messageText, type Segment, segmentsOf } from '../extract/segment.ts';
import { splitLong } from '../extract/sentence.ts';
import { linesOf } from '../extract/unit.ts';
import type { ConversationMessage } from '../message.ts';
import type { Fact, KeyedFact } from './fact.ts';
import { MAX_STRETCH_CHARS, namesIn } from './names.ts';
import { rulesIn } from './rules.ts';
import { sentenceKey } from './words.ts';

// Of a call what it is about, which stands at its head; the rest is text that it writes.
const MAX_CALL_CHARS = 400;
// A tool may answer with megabytes; its head and tail say how it ended.
const MAX_RESULT_CHARS = 24_000;
const MAX_ERROR_CHARS = 240;

/**
 * The facts of messages, each once, in the order in which they were first said: names and quantities in what people and models wrote and in the heads of
 * calls, lines of results that tell of a failure, and what the user said must always or never be. What only a tool showed is none: nobody used it.
 */
export function findFacts(messages: readonly ConversationMessage[]): readonly KeyedFact[] {
  const facts = new Map<string, KeyedFact>();
  for (const message of messages) {
    if (message.role === 'system') continue;
    const text = messageText(message);
    const add = (kind: Fact['kind'], written: string, key: string): void => {
      const id = `${kind} ${key}`;
      if (key !== '' && !facts.has(id)) facts.set(id, { kind, text: written, messageId: message.id, key });
    };
    for (const segment of segmentsOf(message, text, MAX_RESULT_CHARS)) addFacts(text, { segment, message, add });
  }
  return [...facts.values()];
}

type AddOptions = {
  readonly segment: Segment;
  readonly message: ConversationMessage;
  readonly add: (kind: Fact['kind'], text: string, key: string) => void;
};

function addFacts(text: string, { segment, message, add }: AddOptions): void {
  const { kind, start, end } = segment;
  if (kind === 'call') {
    const head = text.slice(start, safeCut(text, Math.min(end, start + MAX_CALL_CHARS)));
    // What was cut off is not a name, and in JSON text a letter behind a backslash is none either.
    const whole = end - start > MAX_CALL_CHARS ? head.replace(/[^\s"\\]*$/, '') : head;
    for (const name of namesIn(whole.replace(/\\["\\nrt]/g, '  '))) add(name.kind, name.text, name.key);
    return;
  }
  for (const line of linesOf(text, segment).flatMap((whole) => splitLong(text, whole, MAX_STRETCH_CHARS))) {
    const written = text.slice(line.start, line.end);
    if (isErrorLine(written)) {
      const [{ start, end } = line] = splitLong(text, line, MAX_ERROR_CHARS);
      const error = text.slice(start, end);
      add('error', error, sentenceKey(error));
    } else if (kind === 'prose') {
      for (const name of namesIn(written)) add(name.kind, name.text, name.key);
      if (message.role !== 'user') continue;
      for (const rule of rulesIn(text, line)) {
        add('rule', rule, sentenceKey(rule));
      }
    }
  }
}

/** A failure and what it says: `TypeError: …`, `error TS2345: …`, `FATAL: …`, `exit code 1`. */
const ERROR_LINE =
  /(?<![\w.-])(?:[A-Z][A-Za-z]{0,60}(?:Error|Exception)|[Ee]rror|ERROR|FATAL|[Ff]atal|panic|FAILED|ERR!?|E[A-Z]{4,20})(?: [A-Z]{1,6}\d{1,6})?(?:\[[\w-]{1,40}\])?(?: \([^)\n]{1,60}\))?:\s|\b(?:exit(?:ed with)?|returned) (?:code|status) [1-9]/;
/** Source code speaks of errors that did not happen. */
const CODE_LINE =
  /\b(?:throw|catch|instanceof|extends|import|return|const|class|def|raise|except)\b|\bnew [A-Z]|\.(?:error|warn)\(|f\(["'`]|%[vsdw]\b|^\s*(?:\/\/|\*|#)|^\d{1,7}[→\t]|^["'`{[]/;
const ERROR_HEAD_CHARS = 300;

function isErrorLine(line: string): boolean {
  const head = line.slice(0, ERROR_HEAD_CHARS);
  return ERROR_LINE.test(head) && !CODE_LINE.test(head);
}
