/** The name of the measure of `estimateTokensByBytes` in reports. */
export const TOKEN_MEASURE = 'utf8-bytes/4';

/** The ratios of the estimates. */
export const CHARS_PER_TOKEN = 4;
export const BYTES_PER_TOKEN = 4;

/** Characters (UTF-16 units) / 4, rounded up. Counts about half of the real tokens for Chinese, Japanese and Korean. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** UTF-8 bytes / 4, rounded up. Within about a tenth of real tokenizers for code, chat and CJK text. */
export function estimateTokensByBytes(text: string): number {
  return tokensOfBytes(utf8Length(text));
}

/** '7,582', independent of the locale. */
export function formatCount(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** '1 message', '2 messages'. */
export function countOf(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
}

/** '7,582 tokens, below the limit of 1M'. */
export function describeUnder(tokens: number, { what, limit }: { what: string; limit: number }): string {
  return `${formatCount(tokens)} tokens, ${tokens < limit ? 'below' : 'at'} the ${what} of ${formatLimit(limit)}`;
}

/** As people type it: '30k', '1.5M', or '7,582' where that is not exact. */
function formatLimit(tokens: number): string {
  if (tokens >= 1e6 && tokens % 1e5 === 0) return `${tokens / 1e6}M`;
  return tokens >= 1000 && tokens % 1000 === 0 ? `${formatCount(tokens / 1000)}k` : formatCount(tokens);
}

/** The same estimate for a text of this many UTF-8 bytes. */
export function tokensOfBytes(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BYTES_PER_TOKEN);
}

/** The length of a text in UTF-8 bytes. A lone surrogate counts 3, as its replacement character would. */
export function utf8Length(text: string): number {
  const firstWide = text.search(/[\u0080-\uffff]/); // most text is ASCII, and this search is several times as fast as the loop
  if (firstWide === -1) return text.length;
  let bytes = firstWide;
  for (let index = firstWide; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index += 1;
    } else bytes += 3;
  }
  return bytes;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000; // NaN (past the end) is not
}
