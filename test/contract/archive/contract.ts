import { batchContract } from './batching.ts';
import { captureContract } from './capturing.ts';
import { checkContract } from './checking.ts';
import { vectorContract } from './comparing.ts';
import type { Engine } from './engine.ts';
import { eraseContract } from './erasing.ts';
import { lineContract } from './lines.ts';
import { logContract } from './logging.ts';
import { formContract, nameContract } from './naming.ts';
import { joinContract, packContract } from './packing.ts';
import { pruneContract } from './pruning.ts';
import { originalsContract } from './reading.ts';
import { runContract } from './runs.ts';
import { searchContract } from './searching.ts';
import { settleContract } from './settling.ts';
import { shareContract } from './sharing.ts';
import { storeContract } from './storing.ts';

/** Every promise of an archive, whatever database it is in. */
export function archiveContract(engine: Engine): void {
  dialectContract(engine);
  lineContract(engine);
  originalsContract(engine);
  runContract(engine);
  logContract(engine);
  nameContract(engine);
  checkContract(engine);
  batchContract(engine);
  eraseContract(engine);
  pruneContract(engine);
  packContract(engine);
}

/** What each engine does in its own way: ids, locks, texts that it cannot hold, packs, full text, vectors, and what goes with a discarded compaction. */
export function dialectContract(engine: Engine): void {
  storeContract(engine);
  formContract(engine);
  joinContract(engine);
  settleContract(engine);
  searchContract(engine);
  vectorContract(engine);
  captureContract(engine);
  shareContract(engine);
}
