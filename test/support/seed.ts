import { configureGlobal } from 'fast-check';

/** Properties look at the same cases in every run, unless other ones are asked for: `npm run dev -- unit:random`, or FC_SEED to repeat a run. */
const DEFAULT_SEED = 20_261_121;
const wanted = process.env['FC_SEED'];
if (wanted !== 'random') configureGlobal({ seed: wanted === undefined ? DEFAULT_SEED : Number(wanted) });
