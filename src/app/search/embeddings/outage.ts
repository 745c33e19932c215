/** Whether a service that has failed is left alone for a while: who searches next does not wait for it too. */
export type Outage = {
  readonly begin: (nowMs: number) => void;
  readonly isOn: (nowMs: number) => boolean;
};

const PAUSE_MS = 60_000;

export function createOutage(): Outage {
  const state = { untilMs: 0 };
  return {
    begin: (nowMs) => {
      state.untilMs = nowMs + PAUSE_MS;
    },
    isOn: (nowMs) => nowMs < state.untilMs,
  };
}
