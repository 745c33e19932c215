import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** LangChain's trimMessages over a file of JSON lines: `node trim-messages.ts PACKAGE FILE`. Keeps the last 8,000 tokens, at four characters each. */
const MAX_TOKENS = 8000;

type Message = { readonly content: unknown };
type LangChain = {
  readonly HumanMessage: new (content: string) => Message;
  readonly trimMessages: (messages: readonly Message[], options: object) => Promise<readonly Message[]>;
};

const [folder = '', path = ''] = process.argv.slice(2);
const { HumanMessage, trimMessages } = createRequire(join(folder, 'package.json'))(
  '@langchain/core/messages',
) as LangChain;
const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
const messages = lines.map((line) => {
  const { message } = JSON.parse(line) as { readonly message: Message };
  return new HumanMessage(typeof message.content === 'string' ? message.content : JSON.stringify(message.content));
});
const tokenCounter = (counted: readonly Message[]): number =>
  counted.reduce((sum, { content }) => sum + String(content).length / 4, 0);
const kept = await trimMessages(messages, { maxTokens: MAX_TOKENS, strategy: 'last', tokenCounter });
process.stdout.write(`${kept.length}\n`);
