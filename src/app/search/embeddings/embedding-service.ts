import type { Embedder } from '../../../ports/embedder.ts';
import type { Redactor } from '../../../ports/redactor.ts';
import type { VectorModel } from '../../../ports/vector-store.ts';
import type { RateLimiter } from '../../summarize/rate-limit.ts';

/** Who turns texts into vectors, and what that needs around it. */
export type EmbeddingService = {
  readonly embedder: Embedder;
  readonly provider: string;
  readonly model: string;
  /** Null: as the model gives them. */
  readonly dimensions: number | null;
  readonly limiter: RateLimiter;
  /** For one run: the same secret has the same mask in it. Null: secrets are not masked. */
  readonly createRedactor: (() => Redactor) | null;
  /** Told of waits and other things that a person at the terminal should know. */
  readonly notice: (sentence: string) => void;
};

type Wanted = Pick<EmbeddingService, 'provider' | 'model' | 'dimensions'>;

/** Whether vectors can be compared with those that the service gives. */
export function isOfService(known: VectorModel, { provider, model, dimensions }: Wanted): boolean {
  return (
    known.provider === provider && known.model === model && (dimensions === null || known.dimensions === dimensions)
  );
}

/** "tiny (64 numbers)" */
export function describeVectors({ model, dimensions }: Pick<Wanted, 'model' | 'dimensions'>): string {
  return dimensions === null ? model : `${model} (${dimensions} numbers)`;
}
