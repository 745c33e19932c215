import { parseArgs } from 'node:util';

export const SECTIONS = ['start', 'files', 'folder', 'growth', 'lineage', 'summarizer', 'search', 'peers'] as const;
export type Section = (typeof SECTIONS)[number];

export type BenchOptions = {
  readonly isQuick: boolean;
  readonly isJson: boolean;
  readonly only: readonly Section[];
  /** Sizes in ascending order, in megabytes of a million bytes. */
  readonly claudeCodeMb: readonly number[];
  readonly chatMb: readonly number[];
  /** Numbers of small files, in ascending order. */
  readonly files: readonly number[];
  /** Numbers of archived messages to search in. */
  readonly messages: readonly number[];
  /** A folder into which npm installed peers. */
  readonly peers: string | null;
};

export type ParsedOptions =
  | { readonly ok: true; readonly value: BenchOptions }
  | { readonly ok: false; readonly error: string };

export const USAGE = `npm run bench -- [options]
  --quick                small inputs, few repeats: under a minute
  --only <sections>      some of ${SECTIONS.join(',')}
  --mb <sizes>           sizes of the Claude Code session, such as 10,1000,4000
  --chat-mb <sizes>      sizes of the file of chat lines
  --files <numbers>      numbers of small files, such as 10,50000
  --messages <numbers>   numbers of archived messages to search, such as 20000,1000000
  --peers <folder>       where npm installed @langchain/core (npm install --prefix <folder> @langchain/core)
  --json                 results on standard output as JSON, tables on standard error`;

const FULL = { mb: '10,100', 'chat-mb': '10,100', files: '10,2000', messages: '20000' } as const;
const QUICK = { mb: '3,10', 'chat-mb': '1,3', files: '10,100', messages: '4000' } as const;

export function parseOptions(argv: readonly string[]): ParsedOptions {
  try {
    return { ok: true, value: readOptions(argv) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ok: false, error: error.message };
  }
}

function readOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      only: { type: 'string', default: SECTIONS.join(',') },
      mb: { type: 'string' },
      'chat-mb': { type: 'string' },
      files: { type: 'string' },
      messages: { type: 'string' },
      peers: { type: 'string' },
    },
  });
  const defaults = values.quick ? QUICK : FULL;
  const numbers = (name: keyof typeof FULL, isWhole: boolean): readonly number[] =>
    parseNumbers(name, values[name] ?? defaults[name], isWhole);
  return {
    isQuick: values.quick,
    isJson: values.json,
    only: parseSections(values.only),
    claudeCodeMb: numbers('mb', false),
    chatMb: numbers('chat-mb', false),
    files: numbers('files', true),
    messages: numbers('messages', true),
    peers: values.peers ?? null,
  };
}

function parseSections(text: string): readonly Section[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !SECTIONS.some((section) => section === name));
  if (unknown.length > 0)
    throw new Error(`--only: there is no ${unknown.join(', ')}; there are ${SECTIONS.join(', ')}`);
  return SECTIONS.filter((section) => names.includes(section));
}

function parseNumbers(name: string, text: string, isWhole: boolean): readonly number[] {
  const numbers = text.split(',').map(Number);
  const isRight = (number: number): boolean =>
    number > 0 && Number.isFinite(number) && (!isWhole || Number.isInteger(number));
  if (!numbers.every(isRight)) {
    throw new Error(`--${name} needs ${isWhole ? 'whole ' : ''}numbers above 0, separated by commas, not "${text}"`);
  }
  return numbers.toSorted((a, b) => a - b);
}
