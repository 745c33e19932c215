import { ModelError, type ModelErrorCode } from '../../core/model-error.ts';
import type { Mask } from './mask.ts';

/** A service as errors speak of it. */
export type Service = {
  readonly host: string;
  readonly mask: Mask;
  readonly now: () => Date;
  readonly advice: {
    /** Where its key is taken from. */
    readonly key: string;
    /** What to look at where it knows no such model or path. */
    readonly notFound: string;
    /** What to try where nobody listens. */
    readonly refused: string;
  };
};

/** What an error means to the caller, and what people may try about it. */
export type Verdict = {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly advice?: string;
};

/** `happened` is said of the host: "answered 401". */
export function serviceError(
  { host }: Service,
  happened: string,
  { code, retryable, advice, retryAfterMs }: Verdict & { readonly retryAfterMs?: number },
): ModelError {
  const message = `${host} ${happened}${advice === undefined ? '' : `: ${advice}`}`;
  return new ModelError(code, message, { retryable, retryAfterMs });
}

const MAX_QUOTED_CHARS = 300;

/** Words of a service as they may stand in a message: without keys, on one line, not too long; nothing where there are none. */
export function quoted({ mask }: Service, text: string | null): string {
  const line = mask
    .shown(text ?? '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line === '') return '';
  return ` (${line.length <= MAX_QUOTED_CHARS ? line : `${line.slice(0, MAX_QUOTED_CHARS)}…`})`;
}
