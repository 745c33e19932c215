/** Stops calling a model after too many failed compactions in a row (L6). */
export type Breaker = {
  readonly isOpen: () => boolean;
  readonly record: (outcome: 'success' | 'failure') => void;
};

export function createBreaker(maxConsecutiveFailures: number): Breaker {
  let failures = 0;
  return {
    isOpen: () => failures >= maxConsecutiveFailures,
    record: (outcome) => {
      failures = outcome === 'success' ? 0 : failures + 1;
    },
  };
}
