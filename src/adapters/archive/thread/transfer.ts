import { isMarkedAsUntransferable } from 'node:worker_threads';

/** The buffers of lines or blocks. They are handed to the other thread instead of copied, so they must not be used any more. */
export function buffersOf(value: unknown): readonly ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const line of Array.isArray(value) ? value : []) {
    const bytes = bytesOf(line);
    if (bytes === null) continue;
    const { buffer } = bytes;
    // Node's pool of small buffers is shared with others.
    if (buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer)) buffers.add(buffer);
  }
  return [...buffers];
}

/** The bytes of a line or a block; null: it has none. */
export function bytesOf(line: unknown): Uint8Array | null {
  const bytes: unknown = line instanceof Uint8Array || !isObject(line) ? line : (line['bytes'] ?? line['data']);
  return bytes instanceof Uint8Array ? bytes : null;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
