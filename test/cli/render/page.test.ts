import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import type { FileReport } from '../../../src/app/contract/file-report.ts';
import { PAGE_START, renderPage } from '../../../src/cli/render/page/page.ts';
import { fileReport, reportedMessage } from '../../support/file-reports.ts';
import { prose } from '../../support/chat.ts';
import { codePoint } from '../../support/code-points.ts';
import { runsOf } from '../../support/runs.ts';

const CONTEXT = { program: 'compact', archiveFlag: null, isFile: true, isRaw: false };

function render(report: FileReport): string {
  return renderPage(report, CONTEXT);
}

/** The tags of a page with the names of their attributes, as a parser sees them. */
function tagsOf(page: string): readonly string[] {
  const code = page.replaceAll(/(<(?:style|script)[^>]*>)[^<]*/g, '$1');
  return [...code.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replaceAll(/"[^"]*"/g, '""'));
}

const NASTY = [
  '<script>alert(1)</script>',
  '</script><img src=x onerror=alert(1)>',
  '--><svg onload=alert(1)>',
  '" onmouseover="alert(1)',
  "' autofocus onfocus='alert(1)",
  '</noscript></title></style><base href="//evil">',
  '\u202e\u2066gnp.exe\u0000\u001b[2J\u0007\u{e0041}',
  ']]><!--',
  '&lt;script&gt;',
  '${1}`',
];

test('no text of a transcript, a path or a name adds a tag or an attribute to the page', () => {
  const plain = tagsOf(render(fileReport(() => 'x')));
  const nasty = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: codePoint, maxLength: 40 }));
  fc.assert(
    fc.property(nasty, (text) => {
      assert.deepEqual(tagsOf(render(fileReport(() => `x${text}`))), plain);
    }),
    { numRuns: runsOf(20) },
  );
});

test('characters that hide or reorder text are shown as escapes, also in packed texts', () => {
  const page = render(fileReport(() => NASTY.join(' ')));
  const packed = [...page.matchAll(/type="text\/plain"[^>]*>([^<]*)</g)].map(([, data = '']) => unpack(data));
  for (const text of [page, JSON.stringify(packed)]) {
    assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]|(?!\n)\p{Cc}/u);
    assert.match(text, /\\u202e/);
  }
});

function unpack(data: string): unknown {
  return JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString());
}

test('the packed texts are those of the messages, in their order', () => {
  const { messages } = fileReport(undefined, 700);
  const page = render(fileReport(undefined, 700));
  const blocks = [...page.matchAll(/class="block" data-first="(\d+)">([^<]*)</g)];
  assert.ok(blocks.length > 1);
  const texts = blocks.flatMap(([, first, data = '']) => {
    const block = unpack(data);
    assert.ok(Array.isArray(block));
    return block.map((text: unknown, at) => [Number(first) + at, text]);
  });
  assert.deepEqual(
    texts,
    messages.map(({ number, text }) => [number, text]),
  );
});

test('the same report makes the same page, and the page names no address', () => {
  const page = render(fileReport());
  assert.equal(render(fileReport()), page);
  assert.ok(page.startsWith(PAGE_START));
  assert.doesNotMatch(page, /https?:|(?:src|href)="(?!#)|url\((?!#)|@import/);
});

test('the security policy allows this style sheet and this script, and nothing else', () => {
  const page = render(fileReport());
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.replaceAll('&#39;', "'") ?? '';
  const hash = (code: string | undefined): string =>
    `'sha256-${createHash('sha256')
      .update(code ?? '')
      .digest('base64')}'`;
  const style = hash(/<style>([^<]*)<\/style>/.exec(page)?.[1]);
  const script = hash(/<script>([\s\S]*?)<\/script>/.exec(page)?.[1]);
  assert.equal(
    policy,
    `default-src 'none'; style-src ${style}; script-src ${script}; base-uri 'none'; form-action 'none'`,
  );
  assert.doesNotMatch(page, / style=| on[a-z]+=/);
});

test('10,000 long messages make a page of less than 4 MB, and 100,000 short ones too', () => {
  const texts = Array.from({ length: 50 }, (_, at) => prose(at, 250));
  const long = Array.from({ length: 10_000 }, (_, at) =>
    reportedMessage({ number: at + 1, text: `${at * 7919} ${texts[at % 50]} ${(at * 104_729) % 9973}` }),
  );
  assert.ok(render({ ...fileReport(), messages: long }).length < 4_000_000);
  const many = Array.from({ length: 100_000 }, (_, at) => reportedMessage({ number: at + 1 }));
  const requests = many.map(({ number, text }) => ({ message: number, text, ending: { message: number, text } }));
  const page = render({ ...fileReport(), messages: many, requests });
  assert.ok(page.length < 4_000_000, `${page.length}`);
  assert.match(page, /messages in the middle are left out/);
});

test('a long text is cut only in the page, and the page says so', () => {
  const text = 'word '.repeat(100);
  const page = render({ ...fileReport(), messages: [reportedMessage({ number: 1, text, chars: 90_000 })] });
  assert.match(page, /Of longer texts, the first 64,000 characters are here/);
});

test('an archive that is gone, and a failed check, are said first', () => {
  const gone = render({
    ...fileReport(),
    bytes: { before: null, after: 900 },
    state: {
      kind: 'unproven',
      failure: { kind: 'not-in-archive', file: 'talk.jsonl', archive: '/a/b.db' },
      claims: { messages: 40, cycles: 2 },
    },
  });
  assert.match(gone, /Not proven[\s\S]*stands for 40 messages of 2 compactions[\s\S]*b\.db/);
  assert.doesNotMatch(gone, /restore -i/);
  const { state } = fileReport();
  assert.ok(state.kind === 'compacted');
  const problems = [{ kind: 'changed-line', line: 3, message: 'line 3 <was> changed' }] as const;
  const failed = render({
    ...fileReport(),
    state: { ...state, verified: { ...state.verified, result: 'failed', problems } },
  });
  assert.match(failed, /Failed[\s\S]*line 3: line 3 &lt;was&gt; changed/);
});
