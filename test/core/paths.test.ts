import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderOfGlob, hasSessionId, isOtherAgent, matchesGlob, sessionIdOf } from '../../src/core/paths.ts';

test("a session's id is read from the name of its file or folder", () => {
  const id = '6b6f4218-1111-4222-8333-444455556666';
  const cases: readonly (readonly [path: string, id: string | null])[] = [
    [`/h/.claude/projects/-w/${id}.jsonl`, id],
    [`/h/.codex/sessions/2026/05/05/rollout-2026-05-05T10-00-00-${id}.jsonl.zst`, id],
    [`/h/.copilot/session-state/${id.toUpperCase()}/events.jsonl`, id],
    ['/h/.gemini/tmp/x/chats/session-2026-07-01T10-00-6b6f4218.json', '6b6f4218'],
    ['/h/.claude/projects/-w/agent-a1b2c3d4.jsonl', 'a1b2c3d4'],
    [`/h/.kimi-code/sessions/wd_x_0123456789ab/session_${id}/agents/main/wire.jsonl`, id],
    [String.raw`C:\Users\kim\.codex\sessions\2026\rollout-2026-05-05T10-00-00-${id}.jsonl`, id],
    [String.raw`C:\Users\kim\.copilot\session-state` + `\\${id}\\events.jsonl`, id],
    ['/logs/2026/session.jsonl', null],
  ];
  assert.deepEqual(
    cases.map(([path]) => [path, sessionIdOf(path)]),
    cases,
  );
});

test("a path has a session's id that begins with at least eight digits of a word, in any case", () => {
  const path = '/h/.codex/sessions/rollout-2026-05-05T10-00-00-6b6f4218-1111-4222-8333-444455556666.jsonl';
  assert.deepEqual(
    ['6b6f4218', '6B6F4218-1111', '6b6f421', '1111-4222', '44445555', '20260505'].map((word) =>
      hasSessionId(path, word),
    ),
    [true, true, false, false, false, false],
  );
});

test('a glob with slashes matches paths of Windows too, and a wildcard stays within a folder there', () => {
  const path = String.raw`C:\work\logs\2026\talk.jsonl`;
  const globs = [
    'logs/**/*.jsonl',
    'logs/*/talk.jsonl',
    String.raw`C:\work\logs\2026\*.jsonl`,
    'logs/*.jsonl',
    'work/*',
  ];
  assert.deepEqual(
    globs.map((glob) => matchesGlob(path, glob)),
    [true, true, true, false, false],
  );
  assert.equal(isOtherAgent(String.raw`C:\sessions\s\agents\helper\wire.jsonl`), true);
});

test('the folder before the wildcards of a glob ends at a slash; at a backslash on Windows only', () => {
  const folders = (glob: string) => [folderOfGlob(glob, false), folderOfGlob(glob, true)];
  assert.deepEqual(folders('/logs/2026/**/*.jsonl'), ['/logs/2026/', '/logs/2026/']);
  assert.deepEqual(folders('*.jsonl'), ['', '']);
  assert.deepEqual(folders('logs/day-[0-9].jsonl'), ['logs/', 'logs/']);
  assert.deepEqual(folders(String.raw`C:\logs\*.jsonl`), ['', 'C:\\logs\\']);
});
