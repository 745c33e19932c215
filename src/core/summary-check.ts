import type { StopReason } from './model-request.ts';
import { estimateTokens } from './tokens.ts';
import { parseJson } from './result.ts';

type SummaryProblem = 'empty' | 'cut-off' | 'refused' | 'unfinished' | 'error-text' | 'too-long';

export type SummaryCheck =
  | { readonly ok: true }
  | { readonly ok: false; readonly problem: SummaryProblem; readonly message: string };

const MIN_ALLOWED_TOKENS = 400; // even a short last chunk must be able to pass

/**
 * Checks whether a model's answer is a summary. It may be as long as its input (chunk and previous summary, `inputTokens` by
 * `estimateTokens`), or 400 tokens in any case.
 */
export function checkSummary(answer: {
  readonly text: string;
  readonly stopReason: StopReason;
  readonly inputTokens: number;
  /** The answer quotes its input, so what looks like a refusal or an error comes from the transcript. */
  readonly isVerbatim?: boolean;
}): SummaryCheck {
  const text = answer.text.trim();
  const isOwnWords = answer.isVerbatim !== true;
  if (answer.stopReason === 'refusal' || (isOwnWords && isRefusalText(text)))
    return problem('refused', 'the model refused to answer');
  if (answer.stopReason === 'max_tokens') return problem('cut-off', 'the summary was cut off at the token limit');
  if (answer.stopReason === 'tool_use')
    return problem('unfinished', 'the model called a tool, where it was to write a summary');
  if (answer.stopReason === 'other') return problem('unfinished', 'the model stopped before it was done');
  if (text === '' || (isOwnWords && !/[\p{L}\p{N}]/u.test(text)))
    return problem('empty', 'the model answered with no text');
  if (isOwnWords && isErrorText(text))
    return problem('error-text', `the answer is an error message: ${firstWords(text)}`);
  const tokens = estimateTokens(text);
  const allowed = Math.max(MIN_ALLOWED_TOKENS, answer.inputTokens);
  if (tokens <= allowed) return { ok: true };
  return problem('too-long', `the summary has about ${tokens} tokens, what it summarizes ${allowed} at most`);
}

function problem(kind: SummaryProblem, message: string): SummaryCheck {
  return { ok: false, problem: kind, message };
}

function firstWords(text: string): string {
  const line = onOneLine(text);
  return line.length <= 80 ? line : `${line.slice(0, 80)}…`;
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

const MAX_REFUSAL_CHARS = 400; // a longer text that begins like a refusal goes on to say something
const APOLOGY =
  "(?:i['’]m|i am) (?:very )?sorry[,.]? (?:but )?|sorry[,.]? (?:but )?|i apologi[sz]e[,.]? (?:but )?|unfortunately[,.]? |as an ai\\b[^.]{0,60}?[,.] ";
const UNABLE =
  "i(?: can(?:['’]|no)t| can not| won['’]t|(?: a|['’])m (?:unable|not able) to| (?:must|have to) decline to)";
const TASK = `(?:${[
  'help (?:you )?with',
  'assist',
  'comply',
  'fulfill',
  'summari[sz]e',
  '(?:write|provide|create|generate|produce|give)(?: you)? (?:\\w+ ){0,3}summar(?:y|ies)',
  'process this',
  'continue with this',
  'do (?:this|that)',
].join('|')})`;
const REFUSAL = new RegExp(`^(?:${APOLOGY})?${UNABLE} ${TASK}\\b`, 'i');
const NOTHING_GIVEN = /^there (?:is|was|were) no (?:conversation|messages|text|content)\b[^.]* to summari[sz]e\b/i;

function isRefusalText(text: string): boolean {
  const line = onOneLine(text);
  return text.length <= MAX_REFUSAL_CHARS && (REFUSAL.test(line) || NOTHING_GIVEN.test(line));
}

// A labeled error may carry a payload. An unlabeled one must be the whole text, because a summary could begin like it.
const MAX_ERROR_CHARS = 1_000;
const STATUS = '(?:4(?:0\\d|13|22|29)|5\\d\\d)';
const CAUSE = `(?:${[
  'rate[ _-]?limit(?:ed)?',
  'too many requests',
  '(?:request|connection|operation) (?:was )?(?:timed out|timeout|aborted|error|reset|refused|closed)',
  'timed?[ -]?out',
  'overloaded(?:_error)?',
  'internal (?:server )?error',
  'bad gateway',
  'gateway time-?out',
  '(?:service |temporarily )+unavailable',
  'fetch failed',
  'socket hang up',
  'network error',
  '(?:prompt|request|input) (?:is )?too (?:long|large)',
  '(?:maximum )?context length exceeded',
  'insufficient[ _](?:quota|credits?)',
  'quota exceeded',
  '(?:usage )?limit reached',
  'credit balance is too low',
  '(?:invalid|incorrect) api key',
  'unauthorized',
  'authentication (?:error|failed)',
  'econn(?:reset|refused|aborted)',
  'etimedout',
  '(?:page|model) not found',
  'no healthy upstream',
  'enotfound',
].join('|')})`;
const NAMED_ERROR = new RegExp(
  `^(?:(?:api|http|server|request|connection|network) error:?|error:|error(?= \\d{3}(?::|$)))\\s*[([]?(?:(?:code|status)[: ]*)?` +
    `(?:${STATUS}\\b|${CAUSE}(?=$|\\s*[^\\w\\s]| (?:error|exceeded|reached|after|for|please|try|retry)\\b))`,
  'i',
);
const BARE_ERROR = new RegExp(
  `^(?:(?:http )?${STATUS}:? )?${CAUSE}(?: (?:error|exceeded|reached|after [\\d.,]+ ?\\w+))*[.!]?` +
    `(?: (?:please )?(?:try|retry)[^.\\n]*\\.?)?$`,
  'i',
);

// A server's response body may have any length.
const ERROR_WITH_BODY = new RegExp(`^(?:api |http )?error:?\\s*\\(?${STATUS}\\)?:?\\s*[<{]`, 'i');

function isErrorText(text: string): boolean {
  if (/^(?:<!--.*?-->\s*)?<(?:!doctype html|html|head|body|\?xml)[\s>]/is.test(text)) return true;
  if (/^upstream connect error\b/i.test(text)) return true;
  if (isErrorJson(text) || ERROR_WITH_BODY.test(text)) return true;
  if (text.length > MAX_ERROR_CHARS) return false;
  const line = onOneLine(text);
  return NAMED_ERROR.test(line) || BARE_ERROR.test(line);
}

/** The keys that services put around an error. An object with other keys may be a summary in JSON that the prompt asked for. */
const ENVELOPE_KEYS: ReadonlySet<string> = new Set([
  'error',
  'type',
  'message',
  'code',
  'status',
  'statusCode',
  'detail',
  'param',
  'success',
  'request_id',
  'requestId',
]);

function isErrorJson(text: string): boolean {
  if (!/^\[?\s*\{/.test(text)) return false;
  const parsed = parseJson(text);
  const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (typeof value !== 'object' || value === null) return false;
  const keys = Object.keys(value);
  const isAlone = keys.length === 1 && /^(?:detail|message)$/.test(keys[0] ?? '');
  const isError = isAlone || ('error' in value && Boolean(value.error)) || ('type' in value && value.type === 'error');
  return isError && keys.every((key) => ENVELOPE_KEYS.has(key));
}
