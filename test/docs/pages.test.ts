import assert from 'node:assert/strict';
import { join, normalize } from 'node:path';
import { test } from 'node:test';
import { loadShown } from '../../src/cli/commands/table.ts';
import { namesOf } from '../../src/cli/line/line.ts';
import { isFileHere, PAGES, readAnchors, readPage } from './pages.ts';

const LINKED = [...PAGES, 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];

test('the README has at most 900 words, and the pages together 15,000', () => {
  const countWords = (page: string): number => readPage(page).match(/\S+/g)?.length ?? 0; // as `wc -w` does
  assert.ok(countWords('README.md') <= 900);
  // Without the command reference, which is made from the commands.
  const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/commands.md');
  const counts = pages.map((page) => [page, countWords(page)] as const);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  assert.ok(total <= 15_000, `${total} words: ${counts.join('; ')}`);
});

test('every link within the repository leads to a file, and to a heading of it', () => {
  const broken = LINKED.flatMap((page) => {
    const links = [...readPage(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
    return links
      .filter(([, path = '', anchor]) => {
        const target = path === '' ? page : normalize(join(page, '..', path));
        return !isFileHere(target) || (anchor !== undefined && !readAnchors(target).includes(anchor));
      })
      .map(([link]) => `${page}: ${link}`);
  });
  assert.deepEqual(broken, []);
});

test('every path that CONTRIBUTING.md names is there', () => {
  const named = [
    ...readPage('CONTRIBUTING.md').matchAll(/`((?:src|test|docs|fixtures|bin|packaging)\/[\w./-]+|[\w.]+\.example)`/g),
  ];
  const paths = named.map(([, path = '']) => path);
  assert.ok(paths.length > 20);
  assert.deepEqual(
    paths.filter((path) => !isFileHere(path)),
    [],
  );
});

/** Flags that a page names and the commands do not have: those of other programs, and one of the one file. */
const FOREIGN = new Set(['--licenses', '--scope', '--silent', '--output-format', '--restore-chat-history']);

test('every command and flag that a page names exists', async () => {
  const shown = await loadShown();
  const commands: readonly string[] = [...shown.map(({ name }) => name), 'help'];
  const flags = new Set(['--version', '--help', ...shown.flatMap(({ command }) => command.flags.flatMap(namesOf))]);
  assert.ok(commands.length > 10 && flags.size > 30);
  const unknown = PAGES.flatMap((page) => {
    const code = readPage(page).match(/```sh\n.*?```|`[^`\n]+`/gs) ?? [];
    const lines = code.flatMap((text) => text.split('\n'));
    const named = lines.flatMap((line) => [...line.matchAll(/(?:^|[`|] ?)compact ([a-z]+)\b(?!\.|\/)/g)]);
    return [
      ...named.map(([, name = '']) => name).filter((name) => !commands.includes(name)),
      ...lines.flatMap((line) => line.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? []).filter((flag) => !flags.has(flag)),
    ]
      .filter((name) => !FOREIGN.has(name))
      .map((name) => `${page}: ${name}`);
  });
  assert.deepEqual(unknown, []);
});
