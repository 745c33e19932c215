import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideColor, loadTheme, PLAIN_THEME } from '../../../src/cli/render/theme.ts';

for (const [when, environment, isTerminal, expected] of [
  ['auto', {}, true, true],
  ['auto', {}, false, false],
  ['auto', { NO_COLOR: '1' }, true, false],
  ['auto', { NO_COLOR: '' }, true, true],
  ['auto', { FORCE_COLOR: '1' }, false, true],
  ['auto', { FORCE_COLOR: '0' }, true, false],
  ['auto', { FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  ['auto', { CI: 'true' }, true, false],
  ['auto', { CI: 'false' }, true, true],
  ['auto', { TERM: 'dumb' }, true, false],
  ['always', { NO_COLOR: '1', CI: '1' }, false, true],
  ['never', { FORCE_COLOR: '1' }, true, false],
] as const) {
  const where = isTerminal ? 'a terminal' : 'a pipe';
  test(`--color ${when} on ${where} with ${JSON.stringify(environment)} is ${expected ? 'color' : 'plain'}`, () => {
    assert.equal(decideColor(when, { environment, isTerminal }), expected);
  });
}

test('a theme without color changes no text, and one with color does on any stream', async () => {
  assert.equal(await loadTheme(false), PLAIN_THEME);
  assert.equal((await loadTheme(true)).bad('x'), '\u001b[31mx\u001b[39m');
});
