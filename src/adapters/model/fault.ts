/** What can go wrong between a request and a whole answer, before anybody has judged it. */
export type Fault =
  /** An HTTP status that is no success, with the beginning of its body. */
  | { readonly kind: 'status'; readonly status: number; readonly headers: Headers; readonly body: string }
  /** An error in the place of an answer, or in the middle of one. */
  | { readonly kind: 'error-body'; readonly body: unknown }
  /** No answer, or one that broke off. `codes` are those of the system and of fetch, outermost first. */
  | { readonly kind: 'connection'; readonly codes: readonly string[]; readonly detail: string }
  | { readonly kind: 'empty' | 'html' | 'no-json' | 'no-end' | 'too-large' }
  /** JSON that is no answer of this kind of service. */
  | { readonly kind: 'shape'; readonly what: string };

/** Carries a fault out of a call. Its message is the same for all, because the SDKs read messages of errors. */
export class ServiceFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super('the service did not answer as it should');
    this.name = 'ServiceFault';
    this.fault = fault;
  }
}

const MAX_CAUSES = 8; // deeper chains are loops

/** The fault behind an error of fetch, of a stream or of an SDK; null for an error that is none of theirs. */
export function faultBehind(error: unknown): Fault | null {
  const chain = causesOf(error);
  const known = chain.find((one) => one instanceof ServiceFault);
  if (known !== undefined) return known.fault;
  if (chain.some((one) => one instanceof SyntaxError)) return { kind: 'no-json' };
  return null;
}

/** What fetch, or the body that it gave, rejected with. */
export function connectionFault(error: unknown): Fault {
  const chain = causesOf(error);
  const codes = chain.flatMap((one) => ('code' in one && typeof one.code === 'string' ? [one.code] : []));
  return { kind: 'connection', codes, detail: chain.at(-1)?.message ?? String(error) };
}

/** The error and what caused it; of a failure for every address of a host, the first one. */
function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < MAX_CAUSES;) {
    chain.push(one);
    one = one instanceof AggregateError && one.cause === undefined ? one.errors[0] : one.cause;
  }
  return chain;
}
