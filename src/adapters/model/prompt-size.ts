import { estimateTokensByBytes } from '../../core/tokens.ts';

/** Below this share of what was sent a server has left some of it out: estimates are not that wrong. */
const MIN_SHARE = 0.6;
/** Where so little was sent, the frame of a chat counts for more than the text. */
const MIN_JUDGED_TOKENS = 500;

/** Tokens of texts, as estimated. */
export function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimateTokensByBytes(text), 0);
}

/**
 * Whether a server that says nothing when it cuts prompts has cut this one. Runs of one character (spaces, rules of tables) are
 * single tokens for most models: they are not counted here. No tokens at all means that it did not count.
 */
export function isCutPrompt(texts: readonly string[], promptTokens: number): boolean {
  const expected = sizeOf(texts.map((text) => text.replaceAll(/(\s|[^\p{L}\p{N}])\1{2,}/gu, '$1')));
  return promptTokens > 0 && expected >= MIN_JUDGED_TOKENS && promptTokens < expected * MIN_SHARE;
}
