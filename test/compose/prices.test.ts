import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadPrices } from '../../src/compose/services.ts';

const findPrice = await loadPrices({ 'my-model': { input: 7, output: 9 }, 'gpt-5': { input: 1, output: 2 } });
const listedOn = findPrice('claude-sonnet-4-5', 1000)?.listedOn;

test('a model costs what its vendor lists, and more per token in a request that the vendor counts as long', () => {
  assert.deepEqual(findPrice('claude-sonnet-4-5', 1000), { input: 3, output: 15, listedOn });
  assert.deepEqual(findPrice('claude-sonnet-4-5-20250929', 300_000)?.input, 6);
});

test('a price of the configuration wins, also over the list', () => {
  assert.deepEqual(findPrice('my-model', 1000), { input: 7, output: 9 });
  assert.deepEqual(findPrice('gpt-5', 1000), { input: 1, output: 2 });
});

test("a router's name of a model means the vendor's, and an unknown model has no price", () => {
  assert.deepEqual(findPrice('anthropic/claude-sonnet-4.5', 1000), { input: 3, output: 15, listedOn });
  assert.deepEqual([findPrice('<synthetic>', 1000), findPrice('', 0)], [null, null]);
});

test('the date is that of the list that is installed', () => {
  const manifest = new URL('../../node_modules/@pydantic/genai-prices/package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
  // A new version brings new prices: write down the day of its publication (`npm view @pydantic/genai-prices time`).
  assert.deepEqual([version, listedOn], ['0.1.8', '2026-09-23']);
});
