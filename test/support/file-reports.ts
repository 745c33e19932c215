import type { FileReport, ReportedMessage } from '../../src/app/contract/file-report.ts';

/** A message of a page; its texts are all the same if one is given. */
export function reportedMessage(changes: Partial<ReportedMessage> & { readonly number: number }): ReportedMessage {
  const { text = `message ${changes.number}` } = changes;
  return {
    id: `m${changes.number}`,
    line: changes.number,
    role: 'user',
    tools: [],
    at: '2026-01-02T03:04:05.000Z',
    tokens: 12,
    score: 3.25,
    terms: [{ name: 'role', value: 3.25 }],
    outcome: 'summarized',
    cycle: 1,
    batch: 'aa11',
    isRequest: false,
    text,
    chars: text.length,
    ...changes,
  };
}

/** A report with something in every section. `say` makes every text of a transcript. */
export function fileReport(say: (plain: string) => string = (plain) => plain, count = 6): FileReport {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  const sha256 = 'c'.repeat(64);
  const batch = { label: say('aa11'), depth: 0, start: null, end: null, count, id: 1 };
  return {
    file: say('talk.jsonl'),
    format: 'chat-lines',
    state: {
      kind: 'compacted',
      verified: {
        schema: 'compact/verify@1',
        file: say('talk.jsonl'),
        format: 'chat-lines',
        result: 'verified',
        cycles: 1,
        lines: { kept: 2, archived: 4, appended: 0 },
        batches: 1,
        original: { sha256, bytes: 12_000 },
        archive: say('/home/ada/archive.db'),
        problems: [],
      },
      cycles: [
        {
          at: '2026-02-03T04:05:06.000Z',
          source: { sha256, bytes: 12_000, lines: count },
          output: { sha256, bytes: 900 },
          keptLines: 2,
          archivedLines: 4,
          made: [{ ...batch, sources: [] }],
          live: [batch],
        },
      ],
    },
    bytes: { before: 12_000, after: 900 },
    tokens: { before: 3_000, after: 250, by: 'utf8-bytes/4' },
    messages: numbers.map((number) =>
      reportedMessage({
        number,
        id: say(`m${number}`),
        role: say('user'),
        tools: [say('Bash')],
        text: say(`message ${number}`),
        batch: say('aa11'),
        outcome: number > count - 2 ? 'kept' : number === 3 ? 'quoted' : 'summarized',
      }),
    ),
    tree: {
      name: say('all'),
      tokens: 100,
      children: [
        { name: say('user'), tokens: 60, children: [{ name: say('Bash'), tokens: 60, children: [] }] },
        { name: say('tool'), tokens: 40, children: [] },
      ],
    },
    rules: [{ text: say('Never push to main.'), message: 1 }],
    requests: [{ message: 1, text: say('Mend the parser'), ending: { message: 2, text: say('It is mended.') } }],
    summaries: [
      [
        { kind: 'head', text: say('[Context Summary]'), source: null },
        { kind: 'heading', text: say('## Findings'), source: null },
        { kind: 'text', text: say('- It is mended.'), source: 2 },
      ],
    ],
    audit: { kept: 1, total: 2, lost: [{ kind: 'path', text: say('src/parser.ts'), message: 2 }] },
  };
}
