import { isMarkedAsUntransferable } from 'node:worker_threads';

/** The buffers of lines. They are handed to the other thread instead of copied, so they must not be used any more. */
export function buffersOf(value: unknown): readonly ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const line of Array.isArray(value) ? value : []) {
    const bytes: unknown = isObject(line) ? line['bytes'] : null;
    if (!(bytes instanceof Uint8Array)) continue;
    const { buffer } = bytes;
    // Node's pool of small buffers is shared with others.
    if (buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer)) buffers.add(buffer);
  }
  return [...buffers];
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
