const LARGEST = 127;

/** A byte a number, scaled so that the largest is 127: a direction is all that counts, and it is kept to about a hundredth. */
export function vectorBytes(vector: Float32Array): Uint8Array {
  const largest = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const scale = largest === 0 ? 0 : LARGEST / largest;
  return new Uint8Array(Int8Array.from(vector, (number) => Math.round(number * scale)).buffer);
}

/** The extension's index takes no more; that many signs tell well enough what is roughly near. */
const MAX_SIGNS = 8192;

/** A bit for each of the first numbers: whether it is above 0. Those of the last byte that stand for nothing are 0. */
export function signBits(vector: Float32Array): Uint8Array {
  const bits = new Uint8Array(signBitCount(vector.length) / 8);
  vector.subarray(0, MAX_SIGNS).forEach((number, at) => {
    if (number > 0) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  });
  return bits;
}

/** Whole bytes. */
export function signBitCount(dimensions: number): number {
  return Math.ceil(Math.min(dimensions, MAX_SIGNS) / 8) * 8;
}

/** The cosine of the angle between a vector and a stored one; 0 where there is none. */
export function cosine(vector: Float32Array, stored: Uint8Array): number {
  const numbers = new Int8Array(stored.buffer, stored.byteOffset, stored.byteLength);
  let dot = 0;
  let ownSquares = 0;
  let storedSquares = 0;
  for (let at = 0; at < numbers.length; at += 1) {
    const [own, other] = [vector[at] ?? 0, numbers[at] ?? 0];
    dot += own * other;
    ownSquares += own * own;
    storedSquares += other * other;
  }
  const lengths = Math.sqrt(ownSquares * storedSquares);
  return lengths === 0 ? 0 : dot / lengths;
}
