import { writeChatLines } from './chat-lines.ts';
import type { Event } from './events.ts';

/** Conversations of a few events each, one a line; of every third line the messages are ShareGPT's. */
export function writeConversationLines(events: readonly Event[], flavor: number): readonly string[] {
  const perLine = 1 + (flavor % 4) * 12;
  const lines: string[] = [];
  for (let from = 0; from < events.length; from += perLine) {
    const messages = writeChatLines(events.slice(from, from + perLine), flavor % 4);
    const gap = flavor % 2 === 0 ? ', ' : ',\t';
    const number = lines.length;
    lines.push(
      number % 3 === 2
        ? `{"conversations":[${messages.map(toShareGpt).join(gap)}],"id":${number % 2}}`
        : `{"id":"line ${number}","messages": [${messages.join(gap)}] , "weight":1.0}`,
    );
  }
  return lines;
}

function toShareGpt(line: string): string {
  const record: unknown = JSON.parse(line);
  if (typeof record !== 'object' || record === null || !('role' in record) || !('content' in record)) return line;
  const from = record.role === 'assistant' ? 'gpt' : record.role === 'user' ? 'human' : record.role;
  return JSON.stringify({ from, value: record.content });
}
