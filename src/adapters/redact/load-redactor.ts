import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure } from '../../ports/files.ts';
import type { Redactor, RuleFileProblem } from '../../ports/model.ts';
import { decodeText, readOutsideFile } from '../../system/outside-file.ts';
import { BUILTIN_RULES } from './builtin-rules.ts';
import { createRedactor } from './redactor.ts';
import { indexRules, type SecretRule } from './rule.ts';

export type LoadedRedactors = {
  /** Creates a redactor for one transcript; masks count from 1 in each. */
  readonly create: () => Redactor;
  /** A sentence for each thing in the rule file that has no effect. */
  readonly warnings: readonly string[];
};

const MAX_RULE_BYTES = 4 * 1024 * 1024; // gitleaks' own file has 100 KB; a file forty times as large is no rule file

/** Loads the built-in rules, gitleaks' default rules, and those of the user's file (null: no file). */
export async function loadRedactors(
  rulesPath: string | null,
): Promise<Result<LoadedRedactors, readonly RuleFileProblem[]>> {
  const { createDefaultRules } = await import('./gitleaks/rule.ts');
  const builtIn = [...BUILTIN_RULES, ...createDefaultRules()];
  if (rulesPath === null) return ok({ create: createOf(builtIn), warnings: [] });
  const text = readText(rulesPath);
  if (!text.ok) return err([text.error]);
  const { readGitleaksRules } = await import('./gitleaks/read-rules.ts');
  const read = readGitleaksRules(text.value, rulesPath);
  if (!read.ok) return read;
  return ok({ create: createOf([...builtIn, ...read.value.rules]), warnings: read.value.warnings });
}

function createOf(rules: readonly SecretRule[]): LoadedRedactors['create'] {
  const index = indexRules(rules);
  return () => createRedactor(index);
}

function readText(path: string): Result<string, RuleFileProblem> {
  const file = readOutsideFile(path, { followsLinks: true, maxBytes: MAX_RULE_BYTES });
  const unreadable = (problem: string) => err({ path, place: '', problem });
  if (!file.ok) return unreadable(describe(file.error));
  const text = decodeText(file.value.bytes);
  return text === null ? unreadable('is not UTF-8 text') : ok(text);
}

function describe(failure: FileFailure): string {
  switch (failure.kind) {
    case 'not-found':
      return 'does not exist';
    case 'not-a-file':
      return `is ${failure.is}`;
    case 'denied':
      return 'cannot be read: permission denied';
    case 'too-large':
      return 'is larger than 4 MiB, the limit for a file of rules';
    default:
      return `cannot be read (${'code' in failure ? failure.code : failure.kind})`;
  }
}
