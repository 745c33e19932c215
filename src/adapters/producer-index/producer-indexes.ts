import type { ProducerIndexes } from '../../ports/producer-indexes.ts';
import { resetCodexIndex } from './codex-index.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The indexes of all producers that are known to keep one, by format. */
export function createProducerIndexes(environment: Environment = process.env): ProducerIndexes {
  return {
    reset: async ({ path, format }) => {
      switch (format) {
        case 'codex':
          return resetCodexIndex(path, environment['CODEX_SQLITE_HOME']);
        default:
          return null;
      }
    },
  };
}
