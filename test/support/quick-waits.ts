import { registerHooks } from 'node:module';

/** The waits that the program asked for, in milliseconds, in their order; none of them takes any time. */
export const waitsMs: number[] = [];

const RUNTIME = '/adapters/runtime/node.ts';
const REAL = '?real';

/** What the program loads in its runtime's place: the same with waits that are over at once, and without chance. */
const SOURCE = (url: string): string => `
  export * from '${url}${REAL}';
  import { createNodeRuntime as createReal } from '${url}${REAL}';
  import { waitsMs } from '${import.meta.url}';
  export const createNodeRuntime = () => ({
    ...createReal(),
    random: () => 0,
    sleep: (ms) => {
      waitsMs.push(Math.round(ms));
      return new Promise((resolve) => setImmediate(resolve));
    },
  });`;

// To be imported before the program is, which loads its runtime when it is first needed.
registerHooks({
  load: (url, context, nextLoad) =>
    url.endsWith(RUNTIME) ? { format: 'module', source: SOURCE(url), shortCircuit: true } : nextLoad(url, context),
});
