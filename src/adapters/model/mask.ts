/** What stands for a key wherever one would be shown. */
const MASK = '[key]';

/** Keys of local servers are often words such as `none` or `ollama`: only as words of their own are they masked. */
const MIN_SECRET_CHARS = 8;
/** In an answer a placeholder may be meant as a word; from here on it is none. */
const MIN_UNMISTAKABLE_CHARS = 16;

export type Mask = {
  /** For what is shown: errors, log lines. */
  readonly shown: (text: string) => string;
  /** For what a model wrote. */
  readonly written: (text: string) => string;
};

/** Takes a key out of texts, also where a server echoes it as part of a URL or of JSON. */
export function createMask(key: string | null): Mask {
  if (key === null || key === '') return { shown: (text) => text, written: (text) => text };
  const forms = [...new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)])];
  const any = forms.map((form) => form.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)).join('|');
  const pattern = new RegExp(key.length < MIN_SECRET_CHARS ? `(?<![A-Za-z0-9])(?:${any})(?![A-Za-z0-9])` : any, 'g');
  const shown = (text: string): string => text.replace(pattern, MASK);
  return { shown, written: key.length < MIN_UNMISTAKABLE_CHARS ? (text) => text : shown };
}
