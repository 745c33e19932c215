import type { Composition, UseCases } from './use-cases.ts';

/** The composition root: the one place where ports meet their adapters. */
export function createUseCases(_composition: Composition): UseCases {
  throw new Error('not wired yet');
}
