import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadRedactors } from '../../src/adapters/redact/redactor.ts';
import { countMasked, placeSecrets } from './secret-case.ts';
import {
  HARMLESS,
  HELD_OUT_SECRETS,
  ORDINARY_SECRETS,
  TUNING_SECRETS,
  UNSEEN_SECRETS,
  VENDOR_SECRETS,
} from './tables.ts';

const loaded = await loadRedactors(null);
assert.ok(loaded.ok);
const { create } = loaded.value;
const redact = (text: string): string => create().redact(text);

test('the tables hold at least 250 secrets of 100 kinds', () => {
  const placed = [...placeSecrets(VENDOR_SECRETS, 1), ...placeSecrets(ORDINARY_SECRETS, 1)];
  assert.ok(placed.length >= 250);
  assert.ok(new Set(placed.map(({ kind }) => kind)).size >= 100);
});

for (const seed of [1, 2, 3]) {
  test(`every secret with a vendor's mark is masked (values ${seed})`, () => {
    const { missed } = countMasked(placeSecrets(VENDOR_SECRETS, seed), redact);
    assert.deepEqual(missed, []);
  });

  test(`at least 95 % of ordinary secrets are masked (values ${seed})`, () => {
    const { masked, total, missed } = countMasked(placeSecrets(ORDINARY_SECRETS, seed), redact);
    assert.ok(masked / total >= 0.95, JSON.stringify(missed, null, 1));
  });
}

test('at least 90 % of the secrets are masked whose contexts were invented without a look at the rules', () => {
  const { masked, total, missed } = countMasked(placeSecrets(HELD_OUT_SECRETS, 1), redact);
  assert.ok(masked / total >= 0.9, JSON.stringify(missed, null, 1));
});

for (const [name, cases] of Object.entries({ tuning: TUNING_SECRETS, unseen: UNSEEN_SECRETS })) {
  test(`at least 92 % of the secrets of the ${name} kinds are masked`, () => {
    const { masked, total } = countMasked(placeSecrets(cases, 1), redact);
    assert.ok(masked / total >= 0.92, `${masked} of ${total}`);
  });
}

for (const text of HARMLESS) {
  test(`nothing is masked in ${JSON.stringify(text.slice(0, 60))}`, () => {
    assert.equal(redact(text), text);
  });
}

test('a secret stays masked where its surroundings no longer give it away, and a common word does not', () => {
  const redactor = create();
  redactor.redact('password = "kq7Rz2vLx9" and token: "level1_2a"');
  assert.equal(redactor.redact('kq7Rz2vLx9 was used in level1_2a'), '[redacted:password:1] was used in level1_2a');
});

test('megabytes of token-like text are masked without an error', () => {
  // More than a call may have arguments, which is about 120,000.
  const token = 'AKIAZQ3DXVY7KTQ2MN5W';
  const text = `${token} `.repeat(135_000);
  const masked = redact(text);
  assert.equal(masked.includes(token), false);
  assert.equal(masked.split('[redacted:').length - 1, 135_000);
});
