import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failure } from '../../../src/app/contract/failure.ts';
import { renderFailure, renderNearFormats } from '../../../src/messages/failure.ts';

const file = 'talk.jsonl';
const path = '/data/archive.db';

const CASES: readonly (readonly [Failure, string])[] = [
  [
    {
      kind: 'low-retention',
      file,
      kept: 899,
      total: 1000,
      wanted: 0.9,
      lost: ['a\u001b.ts', 'port 80', 'c', 'd', 'e'],
    },
    'talk.jsonl: the summaries keep 899 of 1,000 facts (89 %), and 90 % are required; lost: a\\x1b.ts, port 80, c and 98 more. The file is unchanged. Try longer summaries (--max-summary-tokens), smaller chunks (--chunk-size), another model, or a lower --min-retention.',
  ],
  [
    { kind: 'low-retention', file, kept: 0, total: 1, wanted: 0.125, lost: ['a.ts'] },
    'talk.jsonl: the summaries keep 0 of 1 fact (0 %), and 12.5 % are required; lost: a.ts. The file is unchanged. Try longer summaries (--max-summary-tokens), smaller chunks (--chunk-size), another model, or a lower --min-retention.',
  ],
  [
    {
      kind: 'bad-line',
      file,
      line: 418,
      column: 17,
      problem: 'not valid JSON (unexpected end of line)',
      canCarry: true,
    },
    'talk.jsonl:418:17: not valid JSON (unexpected end of line). Use --keep-invalid to carry such lines along.',
  ],
  [
    { kind: 'bad-line', file, line: 1, column: 1, problem: 'role must be a text', canCarry: false },
    'talk.jsonl:1:1: role must be a text. Fix or remove that line.',
  ],
  [{ kind: 'file', failure: { kind: 'not-found', path: file } }, 'talk.jsonl: no such file or folder. Check the path.'],
  [
    { kind: 'file', failure: { kind: 'not-a-file', path: 'd', is: 'a folder' } },
    'd: not a file: it is a folder. Name a file.',
  ],
  [
    { kind: 'file', failure: { kind: 'denied', path: file, what: 'write' } },
    'talk.jsonl: no permission to write it. Check the permissions of the file and its folder.',
  ],
  [
    { kind: 'file', failure: { kind: 'no-space', path: file } },
    'talk.jsonl: no space is left there. Make room, or give another place with -o.',
  ],
  [
    { kind: 'file', failure: { kind: 'io', path: file, code: 'EIO' } },
    'talk.jsonl: the system cannot read or write it (EIO). Check the disk.',
  ],
  [
    { kind: 'file', failure: { kind: 'io', path: file, code: 'EMFILE' } },
    'talk.jsonl: this program has too many files open (EMFILE). Raise the limit (ulimit -n), or work on fewer files at a time with -j.',
  ],
  [
    { kind: 'file', failure: { kind: 'io', path: file, code: 'ENAMETOOLONG' } },
    'talk.jsonl: its name or its path is too long (ENAMETOOLONG). Name a shorter one.',
  ],
  [
    { kind: 'file', failure: { kind: 'too-large', path: file, limitBytes: 4_000_000 } },
    'talk.jsonl: it is larger than 4.0 MB, the limit. Name a smaller one.',
  ],
  [
    { kind: 'file', failure: { kind: 'line-too-long', path: file, line: 89, maxLineBytes: 256 * 1024 * 1024 } },
    'talk.jsonl: line 89 is longer than 256 MiB. Such a line is damage. Remove it.',
  ],
  [
    { kind: 'file', failure: { kind: 'damaged', path: 'a.jsonl', compression: 'gzip', problem: 'cut-off' } },
    'a.jsonl: gzip data that ends too early. Get a complete copy.',
  ],
  [
    { kind: 'file', failure: { kind: 'damaged', path: 'a.jsonl', compression: 'zstd', problem: 'broken' } },
    "a.jsonl: zstd data that is damaged. 'zstd -t' says more; get another copy.",
  ],
  [
    { kind: 'file', failure: { kind: 'damaged', path: 'a.jsonl', compression: 'gzip', problem: 'trailing' } },
    'a.jsonl: something other than gzip data follows its end, and would be lost. Remove that first.',
  ],
  [
    { kind: 'file', failure: { kind: 'damaged', path: 'a.jsonl', compression: 'zstd', problem: 'too-wide' } },
    'a.jsonl: zstd data that takes too much memory to unpack. Unpack it first: zstd -d --long=31.',
  ],
  [
    { kind: 'file', failure: { kind: 'no-room', path: 'a.jsonl.gz', folder: '/tmp', code: 'ENOSPC' } },
    'a.jsonl.gz: its content cannot be stored in /tmp while it is read (no space is left). Name another folder with TMPDIR.',
  ],
  [
    { kind: 'file', failure: { kind: 'no-room', path: 'a.jsonl.gz', folder: '/g\u001b', code: 'ENOENT' } },
    'a.jsonl.gz: its content cannot be stored in /g\\x1b while it is read (the system says ENOENT). Name another folder with TMPDIR.',
  ],
  [
    { kind: 'archive', failure: { kind: 'cannot-open', path, reason: 'its folder is read-only' } },
    '/data/archive.db: the archive cannot be opened: its folder is read-only. Name another archive with --archive.',
  ],
  [
    { kind: 'archive', failure: { kind: 'not-ours', path, reason: 'it has a trigger' }, replaced: 'talk.jsonl' },
    `talk.jsonl: it was replaced, and then its archive failed, so it may not be possible to restore it. Keep the archive ${path}, and run 'compact verify' for the file. The cause: it has a trigger.`,
  ],
  [
    { kind: 'archive', failure: { kind: 'newer', path, version: 9, supported: 2 } },
    '/data/archive.db: an archive of version 9, but this program supports 2. Update compact.',
  ],
  [
    { kind: 'archive', failure: { kind: 'busy', path } },
    '/data/archive.db: another program is using the archive. Try again when it is done.',
  ],
  [
    { kind: 'not-a-transcript', file, looksLike: 'one JSON document', advice: 'Write one record a line.' },
    'talk.jsonl: not a transcript: it looks like one JSON document. Write one record a line.',
  ],
  [
    { kind: 'unknown-format', file, looksLike: null, near: [{ format: 'chat-lines', reason: 'no role in line 1' }] },
    "talk.jsonl: of no known format. Give --format NAME if you know it ('compact --formats' lists them); -v says why it was not recognized.",
  ],
  [
    {
      kind: 'unknown-format',
      file,
      looksLike: 'a Kiro session',
      near: [{ format: 'pi', reason: 'it looks like tea' }],
    },
    "talk.jsonl: it looks like a Kiro session, which this version does not read. 'compact --formats' lists what it reads.",
  ],
  [
    { kind: 'no-messages', file, contains: '3 meta records' },
    'talk.jsonl: no messages, only 3 meta records. Name a transcript that holds a conversation.',
  ],
  [
    { kind: 'read-only-format', file, title: 'X log', reason: 'nothing marks its end' },
    'talk.jsonl: an X log is not compacted: nothing marks its end. Use compact capture and compact search instead.',
  ],
  [
    { kind: 'no-text', file, messages: 1200 },
    'talk.jsonl: none of its 1,200 messages has text that can be read. Name a transcript that holds a conversation.',
  ],
  [
    { kind: 'no-text', file, messages: 1 },
    'talk.jsonl: its only message has no text that can be read. Name a transcript that holds a conversation.',
  ],
  [
    { kind: 'output-exists', file, output: 'o.jsonl' },
    'o.jsonl: already exists and is not replaced, because its content would be lost. Move it away, or give another output for talk.jsonl with -o.',
  ],
  [{ kind: 'source-changed', file }, 'talk.jsonl: keeps changing while it is read. Try again when its writer is done.'],
  [{ kind: 'not-compacted', file }, 'talk.jsonl: not compacted. Name a compacted file, or compact it first.'],
  [
    { kind: 'not-in-archive', file, archive: path, canUndoLast: true },
    "talk.jsonl: the archive /data/archive.db does not have its first compaction. 'compact restore' without --all undoes the last one; for earlier ones, name their archive with --archive. If somebody pasted that summary, --all --partial goes back to where it was pasted.",
  ],
  [
    { kind: 'not-in-archive', file, archive: path },
    'talk.jsonl: its compaction is not in the archive /data/archive.db. Name the archive that was used with --archive.',
  ],
  [
    { kind: 'not-in-archive', file, archive: path, isNone: true },
    'talk.jsonl: its compaction cannot be found: there is no archive /data/archive.db. Name the archive that was used with --archive.',
  ],
  [
    { kind: 'rewritten', file, archive: path, key: '0123456789ab', canUndoLast: false },
    "talk.jsonl: its producer rewrote it after a compaction, so the first original cannot be restored byte for byte. 'compact show 0123456789ab --messages' prints the lines that left it.",
  ],
  [
    { kind: 'altered', file, line: 3, problem: 'a kept line differs' },
    "talk.jsonl:3: changed since it was written: a kept line differs. 'compact verify' says what is still intact.",
  ],
  [
    { kind: 'overwritten', file, at: '2026-03-01T08:00:00.000Z', looksLike: 'binary data' },
    "talk.jsonl: compact wrote a transcript here on 2026-03-01, and now it looks like binary data. If you have a copy of it, put it back; 'compact search' still finds what left it.",
  ],
  [
    { kind: 'no-summary', file, problem: 'the answer was empty', advice: 'Try again.' },
    'talk.jsonl: no summary: the answer was empty. The file is unchanged. Try again.',
  ],
];

for (const [failure, message] of CASES) {
  const kind = 'failure' in failure ? failure.failure.kind : failure.kind;
  test(`${kind} says what, where, and what to try`, () => {
    assert.equal(renderFailure(failure), message);
  });
}

test('the reasons against each format are listed one per line, and other failures have none', () => {
  const near = [
    { format: 'pi', reason: 'the first record is no header' },
    { format: 'chat-lines', reason: 'no record has a role' },
  ];
  const lines = ['  not pi: the first record is no header', '  not chat-lines: no record has a role'];
  assert.deepEqual(renderNearFormats({ kind: 'unknown-format', file, looksLike: null, near }), lines);
  const document = { kind: 'not-a-transcript', file, looksLike: 'one JSON document', advice: '', near } as const;
  assert.deepEqual(renderNearFormats(document), lines);
  assert.deepEqual(renderNearFormats({ kind: 'source-changed', file }), []);
  assert.deepEqual(renderNearFormats({ kind: 'not-archived', name: 'x', near: ['y'], archive: path }), []);
});

test("nothing of a file's name or content reaches the terminal raw", () => {
  const odd = '\u001b[2J\n';
  const rendered = [
    renderFailure({ kind: 'bad-line', file: odd, line: 1, column: 1, problem: odd, canCarry: true }),
    renderFailure({ kind: 'not-a-transcript', file: odd, looksLike: odd, advice: odd }),
    renderFailure({ kind: 'unknown-format', file: odd, looksLike: odd, near: [{ format: odd, reason: odd }] }),
    renderFailure({ kind: 'archive', failure: { kind: 'damaged', path: odd, reason: odd } }),
    ...renderNearFormats({ kind: 'unknown-format', file: odd, looksLike: null, near: [{ format: odd, reason: odd }] }),
  ];
  assert.deepEqual(
    rendered.filter((line) => /\p{Cc}/u.test(line)),
    [],
  );
});
