import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ok, type Result } from '../../core/result.ts';
import type { FileFailure, PendingFile } from '../../ports/files.ts';
import {
  commentFor,
  DATA_START,
  ENGINES,
  FRAME_BREAK,
  FRAME_START,
  LOG_END,
  PACKED_START,
  tryUnpack,
  ZIP_END,
} from './eval-log.ts';
import { fillEnd, fillHeaders, methodOf } from './zip.ts';

const FRAME = Buffer.from(`${FRAME_BREAK}${FRAME_START}`);
const COMMA = 0x2c;

/**
 * A new file for a log of Inspect AI: takes the document that `unpackEvalLog` describes, and writes the zip file that it
 * stands for. One member is in memory at a time.
 */
export function createEvalFile(file: PendingFile): PendingFile {
  const pending = createPending();
  const packer = createPacker(file.write);
  const write = (bytes: Uint8Array): Result<void, FileFailure> => {
    pending.append(bytes);
    for (let piece = pending.takeUntil(FRAME); piece !== null; piece = pending.takeUntil(FRAME)) {
      const written = packer.add(piece);
      if (!written.ok) return written;
    }
    return ok(undefined);
  };
  return {
    ...file,
    write,
    catchUp: (until) => (until === 'end' ? Promise.resolve(packer.end(pending.takeRest())) : null),
  };
}

type Packer = {
  readonly add: (piece: Buffer) => Result<void, FileFailure>;
  readonly end: (rest: Buffer) => Result<void, FileFailure>;
};

function createPacker(write: PendingFile['write']): Packer {
  const directory: Uint8Array[] = [];
  const repacked = new Set<number>();
  const repackedHash = createHash('sha256');
  const state = { head: '', offset: 0 };
  const put = (...pieces: readonly Uint8Array[]): Result<void, FileFailure> => {
    for (const piece of pieces) {
      const written = write(piece);
      if (!written.ok) return written;
      state.offset += piece.length;
    }
    return ok(undefined);
  };
  const add: Packer['add'] = (piece) => {
    if (state.head === '') {
      state.head = piece.toString('latin1');
      return ok(undefined);
    }
    const { packed, isRepacked, ...member } = readFrame(piece.at(-1) === COMMA ? piece.subarray(0, -1) : piece);
    const headers = fillHeaders(member, { ...member, packedBytes: packed.length, offset: state.offset });
    if (isRepacked) {
      repacked.add(directory.length);
      repackedHash.update(packed);
    }
    directory.push(headers.central);
    return put(headers.local, packed);
  };
  return {
    add,
    end: (rest) => {
      if (!rest.subarray(-LOG_END.length).equals(Buffer.from(LOG_END))) throw new Error('the document has no end');
      const last = add(rest.subarray(0, -LOG_END.length));
      if (!last.ok) return last;
      const start = state.head.lastIndexOf(ZIP_END[0]);
      const [end = '', comment = ''] = state.head.slice(start + ZIP_END[0].length, -ZIP_END[1].length).split('.');
      if (start < 0 || directory.length === 0) throw new Error('the document is not that of a zip file');
      const directoryStart = state.offset;
      const ownComment = Buffer.from(comment, 'base64').toString('latin1');
      const mark = commentFor({ indexes: repacked, sha256: repackedHash.digest('hex') }, directory.length);
      const fullComment = `${ownComment}${mark}`;
      return put(...directory, fillEnd(Buffer.from(end, 'base64'), directoryStart, fullComment));
    },
  };
}

type Frame = {
  readonly local: Buffer;
  readonly central: Buffer;
  readonly packed: Uint8Array;
  readonly crc32: number;
  readonly sizeBytes: number;
  readonly isRepacked: boolean;
};

function readFrame(frame: Buffer): Frame {
  const headerEnd = frame.indexOf('"', FRAME_START.length);
  const [local = '', central = '', crc = '', size = ''] = frame
    .toString('latin1', FRAME_START.length, headerEnd)
    .split('.');
  const headers = { local: Buffer.from(local, 'base64'), central: Buffer.from(central, 'base64') };
  if (startsAt(frame, headerEnd, DATA_START)) {
    const packed = Buffer.from(frame.toString('latin1', headerEnd + DATA_START.length, frame.length - 2), 'base64');
    return { ...headers, packed, crc32: Number(crc), sizeBytes: Number(size), isRepacked: false };
  }
  if (!startsAt(frame, headerEnd, PACKED_START)) throw new Error('an element of the document is not a member of a zip');
  const listStart = headerEnd + PACKED_START.length;
  const listEnd = frame.indexOf(']', listStart);
  const pieces = frame.toString('latin1', listStart, listEnd).matchAll(/"packed":"([^"]*)"/g);
  const before = Buffer.concat(Array.from(pieces, ([, piece = '']) => Buffer.from(piece, 'base64')));
  const text = Buffer.concat([Buffer.from('{'), frame.subarray(listEnd + 2)]);
  const engine = ENGINES[methodOf(headers)];
  if (engine === undefined) throw new Error('a sample of the document has an unknown method');
  const isRepacked = before.length === 0 || tryUnpack(engine, before, text.length)?.equals(text) !== true;
  const packed = isRepacked ? engine.pack(text) : before;
  return { ...headers, packed, crc32: crc32(text), sizeBytes: text.length, isRepacked };
}

function startsAt(bytes: Buffer, at: number, text: string): boolean {
  return bytes.toString('latin1', at, at + text.length) === text;
}

/** Bytes that were written and are not yet a whole member. */
function createPending(): {
  readonly append: (bytes: Uint8Array) => void;
  /** What comes before the mark, without the first byte of the mark itself; null: the mark is not here yet. */
  readonly takeUntil: (mark: Buffer) => Buffer | null;
  readonly takeRest: () => Buffer;
} {
  let held = Buffer.allocUnsafe(1024 * 1024);
  let [begin, end, scanned] = [0, 0, 0];
  return {
    append: (bytes) => {
      if (end + bytes.length > held.length) {
        const kept = held.subarray(begin, end);
        const isTooSmall = kept.length + bytes.length > held.length / 2;
        const next = isTooSmall ? Buffer.allocUnsafe((kept.length + bytes.length) * 2) : held;
        kept.copy(next);
        [held, begin, end, scanned] = [next, 0, kept.length, scanned - begin];
      }
      held.set(bytes, end);
      end += bytes.length;
    },
    takeUntil: (mark) => {
      const at = held.subarray(0, end).indexOf(mark, scanned);
      scanned = at < 0 ? Math.max(begin, end - mark.length + 1) : at + 1;
      if (at < 0) return null;
      const piece = held.subarray(begin, at);
      begin = at + 1;
      return piece;
    },
    takeRest: () => held.subarray(begin, end),
  };
}
