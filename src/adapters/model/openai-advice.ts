import type { Service } from './service-error.ts';

/** What to try where a server of this kind fails. */
export const ADVICE: Readonly<Record<'openai' | 'ollama', Service['advice']>> = {
  openai: {
    key: 'OPENAI_API_KEY or what api_key_env names',
    notFound: 'check the name of the model, and base_url, which mostly ends in /v1',
    refused: 'check base_url, and whether a server runs there',
  },
  ollama: {
    key: 'api_key or what api_key_env names',
    notFound: '`ollama list` gives the models that are there, `ollama pull` gets one; base_url ends in /v1',
    refused: 'is Ollama running? `ollama serve` starts it',
  },
};
