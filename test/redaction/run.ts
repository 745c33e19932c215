import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { loadRedactors } from '../../src/adapters/redact/redactor.ts';
import { countMasked, placeSecrets, type SecretCase } from './secret-case.ts';
import {
  HARMLESS,
  HELD_OUT_SECRETS,
  ORDINARY_SECRETS,
  TUNING_SECRETS,
  UNSEEN_SECRETS,
  VENDOR_SECRETS,
} from './tables.ts';

/**
 * Prints which share of made-up secrets the redactor masks, and what it masks that is no secret:
 * npm run dev -- redaction [FILE…]   counts the masks in each file too, per million characters. They are read as false ones: check with -v.
 */

const isVerbose = process.argv.includes('-v');
const files = process.argv.slice(2).filter((argument) => argument !== '-v');
const loaded = await loadRedactors(null);
if (!loaded.ok) throw new Error('the built-in rules cannot be read');
const { create } = loaded.value;
const redact = (text: string): string => create().redact(text);

const TABLES: Readonly<Record<string, readonly SecretCase[]>> = {
  vendor: VENDOR_SECRETS,
  ordinary: ORDINARY_SECRETS,
  'held out': HELD_OUT_SECRETS,
  tuning: TUNING_SECRETS,
  unseen: UNSEEN_SECRETS,
};

for (const [name, cases] of Object.entries(TABLES)) {
  const { masked, total, missed } = countMasked(placeSecrets(cases, 1), redact);
  const share = ((masked / total) * 100).toFixed(1);
  console.log(`${name.padEnd(10)} ${masked}/${total} secrets of ${cases.length} kinds masked (${share} %)`);
  // Nobody looks at what is missed of the unseen half, because then it would be no measure any more.
  if (cases === UNSEEN_SECRETS) continue;
  for (const { kind, text } of missed) console.log(`  missed ${kind}: ${JSON.stringify(text.slice(0, 110))}`);
}

const touched = HARMLESS.filter((text) => redact(text) !== text);
console.log(`harmless   ${touched.length}/${HARMLESS.length} texts without a secret were masked`);
for (const text of touched) console.log(`  ${JSON.stringify(text)} → ${JSON.stringify(redact(text))}`);

let chars = 0;
let masks = 0;
for (const file of files) {
  const lines = readFileSync(file, 'utf8').split('\n');
  const redactor = create();
  let here = 0;
  for (const line of lines) {
    const before = line.split('[redacted:').length;
    const after = redactor.redact(line);
    const added = after.split('[redacted:').length - before;
    here += added;
    if (isVerbose && added > 0) {
      for (const match of after.matchAll(/\[redacted:[^\]]*\]/g)) {
        console.log(`  ${basename(file)}: ${after.slice(Math.max(0, match.index - 60), match.index + 60)}`);
      }
    }
    chars += line.length;
  }
  masks += here;
  if (here > 0) console.log(`  ${basename(file)}: ${here} masks`);
}
if (files.length > 0)
  console.log(`files      ${masks} masks in ${chars} characters: ${((masks / chars) * 1e6).toFixed(2)} per million`);
