/** Shannon's entropy in bits a character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  let total = 0;
  for (const character of text) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
    total += 1;
  }
  let bits = 0;
  for (const count of counts.values()) bits -= (count / total) * Math.log2(count / total);
  return bits;
}
