import { DEFAULT_SETTINGS } from './settings.ts';
import type { ConfigFile } from './schema.ts';

/** What of a file applies, and what does not because nobody has trusted the file. */
export type SplitConfig = { readonly values: ConfigFile; readonly refused: ConfigFile };

/**
 * What a project's file may set before the user has trusted it: the numbers of [summarization], and nothing else. None of them sends, writes or
 * keeps anything that would not be otherwise. One of them could spend money without end where the user names a model, and may only be lowered.
 */
export function splitUntrusted({ summarization = {}, ...others }: ConfigFile): SplitConfig {
  const allowed = Object.fromEntries(Object.entries(summarization).filter(isHarmless));
  const refused = Object.fromEntries(Object.entries(summarization).filter((entry) => !isHarmless(entry)));
  return {
    values: { summarization: allowed },
    refused: { ...(Object.keys(refused).length === 0 ? {} : { summarization: refused }), ...others },
  };
}

function isHarmless([key, value]: readonly [string, unknown]): boolean {
  if (typeof value !== 'number') return false;
  const usual = DEFAULT_SETTINGS.summarization.compaction_max_retries;
  return key !== 'compaction_max_retries' || usual === null || value <= usual;
}

/** The whole file again. */
export function joinConfig({ values, refused }: SplitConfig): ConfigFile {
  return { ...values, ...refused, summarization: { ...values.summarization, ...refused.summarization } };
}
