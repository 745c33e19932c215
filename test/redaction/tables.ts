import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Draw } from './made-up.ts';
import type { SecretCase } from './secret-case.ts';

/**
 * Made-up secrets in texts, in `fixtures/secrets`: rows of a kind, of what the secret is made of (`ghp_<alnum 36>`; `base64!` encodes the
 * rest), and of the texts, in which `§` stands for it.
 */

/** Keys that begin or end with a mark of the service that issues them, as each service documents them. */
export const VENDOR_SECRETS = load('vendor');
/** Secrets that only their surroundings give away, in configuration, code, commands, requests and sentences. */
export const ORDINARY_SECRETS = load('ordinary');
/**
 * Ordinary secrets in contexts that were invented after a look at most rules, but at no other table. At first sight 68 of 104 were
 * masked (65 %); the missing forms have rules since, so later figures say nothing about unseen text.
 */
export const HELD_OUT_SECRETS = load('held-out');

/**
 * Kinds that were written down before the rules for them: keys as services documented them by 2026, secrets that only a command, a label or
 * a sentence gives away, and secrets as the documentation of products and services shows them. Of the last two tables, 265 of 285 were
 * masked at first sight (93 %): no rule was changed for them.
 */
const NEW_KINDS = ['documented', 'surrounding', 'sentence', 'product', 'service'].flatMap(load);

/** By lot: the rules may be tuned on the one half of the kinds, and nobody looks at what they miss of the other. */
export const TUNING_SECRETS = halfOf(0);
export const UNSEEN_SECRETS = halfOf(1);

/** Text that looks like a secret and is none: nothing in it may be masked. */
export const HARMLESS: readonly string[] = readTable('harmless');

function halfOf(side: number): readonly SecretCase[] {
  return NEW_KINDS.filter(([kind]) => createHash('sha256').update(kind).digest().readUInt8(0) % 2 === side);
}

function load(name: string): readonly SecretCase[] {
  const rows: readonly (readonly string[])[] = readTable(name);
  return rows.map(([kind = '', made = '', ...texts]) => [kind, (draw) => make(made, draw), texts]);
}

function readTable(name: string) {
  return JSON.parse(readFileSync(new URL(`../../fixtures/secrets/${name}.json`, import.meta.url), 'utf8'));
}

function make(template: string, draw: Draw): string {
  if (template.startsWith('base64!')) return Buffer.from(make(template.slice(7), draw)).toString('base64');
  return template.replaceAll(/<(\w+)(?::(\S+))?(?: (\d+))?>/g, (_, name: string, alphabet: string, count: string) => {
    if (name === 'of') return draw.of(alphabet, Number(count));
    if (name === 'HEX') return draw.hex(Number(count)).toUpperCase();
    return Reflect.get(draw, name)(Number(count));
  });
}
