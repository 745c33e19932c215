import type { ConfigFile } from './schema.ts';
import { DEFAULT_SETTINGS } from './settings.ts';

/** The settings of a file that apply, and those that would need trust. */
export type SplitConfig = { readonly values: ConfigFile; readonly refused: ConfigFile };

/**
 * Without trust a project's file may set the numbers of [summarization] and nothing else: none of them decides what is sent, or where to. Retries could
 * cost any amount of money when the user names a model, so their number may only be lowered.
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

/** Undoes `splitUntrusted`. */
export function joinConfig({ values, refused }: SplitConfig): ConfigFile {
  return { ...values, ...refused, summarization: { ...values.summarization, ...refused.summarization } };
}
