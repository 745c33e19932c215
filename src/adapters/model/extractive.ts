import { stemmer } from 'stemmer';
import { ModelError } from '../../core/model-request.ts';
import type { ModelProvider } from '../../ports/model.ts';

// One token is four characters everywhere in this project.
const CHARS_PER_TOKEN = 4;
// Every word form of a large transcript, a few megabytes at most.
const MAX_CACHED_STEMS = 100_000;

/** Summarizes offline by quoting the conversation: no key, no network, no cost, and always the same answer. */
export function createExtractiveProvider(): ModelProvider {
  const stem = createCachedStemmer();
  return {
    isVerbatim: true,
    complete: async ({ source, max_tokens: maxTokens }, signal) => {
      signal?.throwIfAborted();
      if (source === undefined) {
        const message = 'The extractive provider chooses from the messages themselves, and this request has no source';
        throw new ModelError('api_error', message, { retryable: false });
      }
      const { summarizeSource } = await import('../../core/extract/summarize.ts');
      const text = summarizeSource(source, { maxChars: Math.max(0, Math.floor(maxTokens)) * CHARS_PER_TOKEN, stem });
      return {
        content: [{ type: 'text', text }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 0, output_tokens: 0 },
      };
    },
  };
}

/** Porter's stemmer for English, with a cache. */
export function createCachedStemmer(): (word: string) => string {
  const stems = new Map<string, string>();
  return (word) => {
    const known = stems.get(word);
    if (known !== undefined) return known;
    if (stems.size >= MAX_CACHED_STEMS) stems.clear();
    const stem = stemmer(word);
    stems.set(word, stem);
    return stem;
  };
}
