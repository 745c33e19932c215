import { type Event, orderResults, timeAt } from './events.ts';

type Item = Readonly<Record<string, unknown>>;
type Message = Item & { readonly id: string };

type Writing = {
  /** Puts a record into the log. */
  readonly row: (record: Item) => void;
  /** Puts a message into the log, or puts it there anew. */
  readonly put: (message: Message) => void;
  readonly replace: (messages: readonly Message[]) => void;
  readonly said: () => readonly Message[];
  readonly newId: () => string;
};

/** Logs of Gemini CLI: messages put anew, results told twice, rewinds, and checkpoints that repeat, leave out or compress. */
export function writeGemini(events: readonly Event[], flavor: number): readonly string[] {
  const lines: string[] = [];
  const writing = createWriting(lines);
  if (flavor % 7 !== 6) writeMetadata(writing, 0);
  if (flavor % 2 === 0) writing.replace([surroundings(writing)]);
  events.forEach((event, at) => {
    writeEvent(writing, event, { at, isTerse: flavor % 3 === 0 });
    if (flavor % 3 !== 1) writing.row({ $set: { lastUpdated: timeAt(at) } });
  });
  return lines;
}

function createWriting(lines: string[]): Writing {
  let said: readonly Message[] = [];
  let ids = 0;
  const row = (record: Item): void => void lines.push(JSON.stringify(record));
  return {
    row,
    put: (message) => {
      const isKnown = said.some(({ id }) => id === message.id);
      said = isKnown ? said.map((one) => (one.id === message.id ? message : one)) : [...said, message];
      row(message);
    },
    replace: (messages) => {
      said = messages;
      row({ $set: { messages, lastUpdated: timeAt(lines.length) } });
    },
    said: () => said,
    newId: () => `m-${(ids += 1)}`,
  };
}

function writeEvent(
  writing: Writing,
  event: Event,
  { at, isTerse }: { readonly at: number; readonly isTerse: boolean },
): void {
  const message = (type: string, content: unknown, more: Item = {}): Message => ({
    id: writing.newId(),
    timestamp: timeAt(at),
    type,
    content,
    ...more,
  });
  switch (event.kind) {
    case 'prompt':
      return writing.put(message('user', isTerse ? event.text : [{ text: event.text }]));
    case 'answer':
    case 'thinking': {
      const answer = message('gemini', event.text, { thoughts: [{ subject: 'a plan' }], model: 'm' });
      writing.put(answer);
      return event.kind === 'thinking' ? writing.put({ ...answer, tokens: { total: 900_000 } }) : undefined;
    }
    case 'tools':
      return writeTools(writing, event, message('gemini', isTerse ? event.text : '', { model: 'm' }));
    case 'instruction':
      return writing.put(message('info', event.text));
    case 'queued':
      return writing.put(message('user', `/note ${event.text}`));
    case 'side':
      return writing.replace(writing.said().slice(0, -event.count));
    case 'rewind':
      return writeRewind(writing, event.back);
    case 'compaction': {
      const kept = event.keeps === 0 ? [] : writing.said().slice(-event.keeps);
      const anew = kept.map((one) => ({ ...one, id: writing.newId() }));
      return writing.replace([surroundings(writing), message('user', [{ text: event.text }]), ...anew]);
    }
    default:
      return writeMeta(writing, event.which);
  }
}

/** The call first, then once more with its results, then the message that brought them to the model. */
function writeTools(writing: Writing, event: Extract<Event, { kind: 'tools' }>, call: Message): void {
  const answered = orderResults(event.count, event.results);
  const idOf = (n: number): string => `${call.id}-call-${n}`;
  const response = (n: number): Item => ({
    functionResponse: { id: idOf(n), name: 'look', response: { output: event.text } },
  });
  const toolCalls = Array.from({ length: event.count }, (_, n) => ({
    id: idOf(n),
    name: 'look',
    args: { n },
    ...(answered.includes(n) && { result: [response(n)] }),
    status: 'success',
  }));
  writing.put(call);
  if (event.results !== 'reversed') writing.put({ ...call, toolCalls });
  if (event.results === 'none') return;
  writing.put({ ...call, id: writing.newId(), type: 'user', content: answered.map(response) });
  if (event.results === 'reversed') writing.put({ ...call, toolCalls });
}

function writeRewind(writing: Writing, back: number): void {
  const said = writing.said();
  const id = said.at(-back)?.id ?? 'gone';
  writing.row({ $rewindTo: id });
  for (const message of said.slice(0, -back).slice(-1)) writing.put(message);
}

function writeMeta(writing: Writing, which: number): void {
  if (which % 4 === 0) return writeMetadata(writing, which);
  if (which % 4 === 1) return writing.row({ $set: { summary: `a title ${which}` } });
  if (which % 4 === 2) return writing.replace([surroundings(writing), ...writing.said()]);
  return writing.row({ nobodyKnows: which });
}

function writeMetadata(writing: Writing, which: number): void {
  writing.row({ sessionId: 'session-1', projectHash: 'hash', startTime: timeAt(which), kind: 'main' });
}

function surroundings(writing: Writing): Message {
  const text = '<session_context>\na folder\n</session_context>';
  return { id: writing.newId(), timestamp: timeAt(0), type: 'user', content: [{ text }] };
}
