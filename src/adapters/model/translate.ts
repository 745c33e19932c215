import type { ModelError } from '../../core/model-error.ts';
import { assertNever } from '../../core/result.ts';
import { type ErrorBody, isHtml, readErrorBody } from './error-body.ts';
import type { Fault } from './fault.ts';
import { isOverflow } from './overflow.ts';
import { readRetryAfterMs } from './retry-after.ts';
import { quoted, type Service, serviceError, type Verdict } from './service-error.ts';

/** What a vendor's own names for errors mean; null: the status says it. `status` is null where an error came in an answer. */
export type Classify = (said: ErrorBody, status: number | null) => Verdict | null;

/** A fault in the caller's terms, once for all. */
export function translateFault(service: Service, fault: Fault, classify: Classify): ModelError {
  switch (fault.kind) {
    case 'status': {
      const said = readErrorBody(fault.body);
      const verdict = judge(service, classify, said, fault.status);
      const retryAfterMs = verdict.retryable ? readRetryAfterMs(fault.headers, service.now()) : undefined;
      const words = isHtml(fault.body) ? ' with a web page' : quoted(service, said.message);
      return serviceError(service, `answered ${fault.status}${words}`, { ...verdict, retryAfterMs });
    }
    case 'error-body': {
      const said = readErrorBody(fault.body);
      const verdict = judge(service, classify, said, said.status);
      return serviceError(service, `answered with an error${quoted(service, said.message)}`, verdict);
    }
    case 'connection':
      return connectionError(service, fault);
    case 'empty':
      return serviceError(service, 'answered with nothing that is an answer', AGAIN);
    case 'no-end':
      return serviceError(service, 'ended its answer before it was complete', AGAIN);
    case 'no-json':
      return serviceError(service, 'sent something that is not JSON', AGAIN);
    case 'shape':
      return serviceError(service, `sent an answer of an unknown shape${quoted(service, fault.what)}`, {
        ...NEVER,
        advice: CHECK_URL,
      });
    case 'html':
      return serviceError(service, 'answered with a web page', { ...NEVER, advice: CHECK_URL });
    case 'too-large':
      return serviceError(service, 'sent an answer without an end', NEVER);
    default:
      return assertNever(fault);
  }
}

const AGAIN = { code: 'api_error', retryable: true } as const;
const NEVER = { code: 'api_error', retryable: false } as const;
const CHECK_URL = 'check base_url, it must name the API itself';

function judge(service: Service, classify: Classify, said: ErrorBody, status: number | null): Verdict {
  if (isOverflow(said)) return TOO_LONG;
  return classify(said, status) ?? (status === null ? AGAIN : verdictOf(service, status));
}

const TOO_LONG: Verdict = { code: 'context_length', retryable: false };

function verdictOf({ advice }: Service, status: number): Verdict {
  if (status === 401) return { code: 'auth', retryable: false, advice: `check the key, ${advice.key}` };
  if (status === 403)
    return { code: 'auth', retryable: false, advice: `check what the key may be used for, ${advice.key}` };
  if (status === 404) return { ...NEVER, advice: advice.notFound };
  if (status === 402) return { ...NEVER, advice: NO_CREDIT };
  if (status === 413) return TOO_LONG;
  if (status === 429) return { code: 'rate_limit', retryable: true };
  if (status === 408 || status === 504 || status === 524) return { code: 'timeout', retryable: true };
  if (status === 409 || status >= 500) return AGAIN;
  return status < 400
    ? { ...NEVER, advice: 'it is elsewhere, and requests follow no redirect: check base_url' }
    : NEVER;
}

/** For accounts that must be paid first. */
export const NO_CREDIT = 'the account has nothing left to spend, and trying again does not help';

const TIMEOUT_CODES = /^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const CERTIFICATE_CODES = /CERT|^UNABLE_TO_|^ERR_TLS_|^ERR_SSL_/;

function connectionError(
  service: Service,
  { codes, detail }: { readonly codes: readonly string[]; readonly detail: string },
): ModelError {
  const code = codes.at(-1);
  const words = quoted(service, code ?? detail);
  if (codes.some((one) => TIMEOUT_CODES.test(one))) {
    return serviceError(service, `did not answer in time${words}`, { code: 'timeout', retryable: true });
  }
  switch (code) {
    case 'ECONNREFUSED':
      return serviceError(service, `cannot be reached${words}`, { ...AGAIN, advice: service.advice.refused });
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return serviceError(service, `cannot be found${words}`, {
        ...AGAIN,
        advice: 'check base_url and the network',
      });
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return serviceError(service, `broke the connection off${words}`, AGAIN);
    default:
      break;
  }
  if (codes.some((one) => CERTIFICATE_CODES.test(one))) {
    return serviceError(service, `has a certificate that is not trusted${words}`, {
      ...NEVER,
      advice: 'NODE_EXTRA_CA_CERTS names a file with more authorities',
    });
  }
  return serviceError(service, `cannot be reached${words}`, AGAIN);
}
