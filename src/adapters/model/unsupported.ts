import { readErrorBody } from './error-body.ts';
import type { Fault } from './fault.ts';
import { isOverflow } from './overflow.ts';

const UNSUPPORTED_CODES: ReadonlySet<string> = new Set([
  'unsupported_parameter',
  'unsupported_value',
  'unknown_parameter',
]);
const UNSUPPORTED_WORDS =
  /unsupported|not (?:be )?(?:supported|permitted|allowed|accepted|recogni[sz]ed)|(?:does|do)(?: not|n't) (?:support|accept)|unrecogni[sz]ed|unknown|unexpected|deprecated|no longer/i;

/** Whether a service refused a request for one of these parameters as such, not for its value being too large. */
export function namesUnsupported(fault: Fault, names: readonly string[]): boolean {
  if (fault.kind !== 'status' || (fault.status !== 400 && fault.status !== 422)) return false;
  const said = readErrorBody(fault.body);
  if (isOverflow(said)) return false;
  const isNamed = (name: string): boolean =>
    said.param === null ? new RegExp(`\\b${name}\\b`).test(said.text) : said.param.split('.')[0] === name;
  return (UNSUPPORTED_CODES.has(said.code ?? '') || UNSUPPORTED_WORDS.test(said.text)) && names.some(isNamed);
}
