import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { CODECS } from '../support/codecs.ts';
import type { Json } from '../../src/ports/codec.ts';

const value: fc.Arbitrary<Json> = fc.json().map((text): Json => JSON.parse(text));
const header = fc.record({ type: fc.constantFrom('session', 'session_meta', 'user'), cwd: value, payload: value });
const payload = fc.record({ type: fc.constant('session_meta'), payload: fc.record({ cwd: value }) });

for (const { format, readProject } of CODECS) {
  test(`${format.name}: its places stand below a home folder`, () => {
    const odd = (format.places ?? []).filter(
      ({ base, folder, file = '' }) =>
        [base, folder].some((path) => path.startsWith('/') || path.split('/').includes('..')) || file.includes('/'),
    );
    assert.deepEqual(odd, []);
  });

  if (readProject !== undefined) {
    test(`${format.name}: a project is a text or none, whatever stands in the records`, () => {
      fc.assert(
        fc.property(fc.array(fc.oneof(value, header, payload)), (sample) => {
          const project = readProject(sample);
          assert.ok(project === null || typeof project === 'string');
        }),
      );
    });
  }
}
