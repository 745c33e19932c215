import type { Environment } from '../config/find.ts';

/** As it can be typed again: npx says that it runs us. */
export function programName(environment: Environment): string {
  return environment['npm_command'] === 'exec' ? 'npx compact' : 'compact';
}
