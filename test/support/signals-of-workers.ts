/** The n-th step that all workers together take, counted from 1, sends this signal to the process. */
export type SignalAt = { readonly nth: number; readonly signal: 'SIGKILL' | 'SIGINT' };

/** The key of the environment data with what the workers share: the number of steps, and whether they may go on after the signal. */
export const SHARED_STEPS = 'compact-test-steps';
export const STEPS = 0;
export const MAY_GO_ON = 1;
