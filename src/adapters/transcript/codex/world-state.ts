const WORLD_STATE = 'world_state';

/**
 * Codex notes all of a thread's surroundings, then what changes in them, and from both knows what it has told the model. The latest
 * full note and every change since stay, so each change has a pin of its own.
 */
export function worldStatePin(changes: number): string {
  return changes === 0 ? WORLD_STATE : `${WORLD_STATE}+${changes}`;
}

export function isBaseline(pin: string | undefined): boolean {
  return pin === 'turn_context' || pin?.startsWith(WORLD_STATE) === true;
}
