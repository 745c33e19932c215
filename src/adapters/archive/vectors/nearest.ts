import type { VectorModel } from '../../../ports/archive-lookup.ts';

const LARGEST = 127;

/**
 * One signed byte per number, scaled so that the largest is 127. Only the direction matters, and it stays accurate to
 * about a hundredth.
 */
export function vectorBytes(vector: Float32Array): Uint8Array {
  const largest = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const scale = largest === 0 ? 0 : LARGEST / largest;
  return new Uint8Array(Int8Array.from(vector, (number) => Math.round(number * scale)).buffer);
}

/** The limit of the extension's index, and enough signs to find candidates near vectors. */
const MAX_SIGNS = 8192;

/** One bit for each of the first numbers: whether it is above 0. Unused bits of the last byte are 0. */
export function signBits(vector: Float32Array): Uint8Array {
  const bits = new Uint8Array(signBitCount(vector.length) / 8);
  vector.subarray(0, MAX_SIGNS).forEach((number, at) => {
    if (number > 0) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  });
  return bits;
}

/** The signs of a stored vector. */
export function signsOf(stored: Uint8Array): Uint8Array {
  return signBits(Float32Array.from(new Int8Array(stored.buffer, stored.byteOffset, stored.byteLength)));
}

/** A multiple of 8. */
export function signBitCount(dimensions: number): number {
  return Math.ceil(Math.min(dimensions, MAX_SIGNS) / 8) * 8;
}

/** The cosine of the angle between a vector and a stored one; 0 if either is zero. */
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

export function isSameModel(a: VectorModel, b: VectorModel): boolean {
  return a.provider === b.provider && a.model === b.model && a.dimensions === b.dimensions;
}
