import { createHash } from 'node:crypto';
import { constants, crc32, deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { err, ok, type Result, parseJson } from '../../core/result.ts';
import type { CompressionProblem, FileFailure, PendingFile } from '../../ports/files.ts';
import { type PackedFile, type Spool, unpackToSpool } from './decompress.ts';
import { fillEnd, fillHeaders, methodOf, readZip, type ZipFile, type ZipMember } from './zip.ts';

/**
 * A log of Inspect AI as a zip file (`.eval`) is read as one JSON document, from which the same zip file can be made
 * again byte for byte:
 *
 *     {"version":2,"status":"…","eval":{"task":"…"},"compact_zip_end":"…","samples":[
 *     {"compact_zip":"LOCAL.CENTRAL.CRC32.SIZE","data":"…"},
 *     {"compact_zip":"LOCAL.CENTRAL","compact_packed":[{"packed":"…","method":8,"size":9},{"packed":""}],"id":1,…}
 *     ]}
 *
 * Each member of the zip is an element. `compact_zip` has its headers, `data` its packed bytes, all in base64. The
 * newest member of each sample is the sample itself, after `compact_packed`, which has its packed bytes. They leave
 * when the sample is compacted (the empty element stays, since no list may become empty). A sample without them, or
 * with another text, is packed anew, and a comment at the end of the zip file says which members were.
 */
const FRAME_START = '{"compact_zip":"';
const DATA_START = '","data":"';
const PACKED_START = '","compact_packed":[';
const FRAME_BREAK = '\n';
const PACKED_RECORD = '{"packed":"';
const LOG_END = '\n]}\n';
/** What comes before the base64 of the end of the zip file, and after it. */
const ZIP_END = ['"compact_zip_end":"', '","samples":['] as const;

/**
 * The end of the comment: the bits of the members that were packed anew, in base64, and the sha256 of their packed bytes. Only a comment whose
 * hash is right is ours; any other belongs to the log.
 */
const REPACKED = /compact:([A-Za-z0-9+/]*={0,2}):([0-9a-f]{64})$/;
/** A comment of the log must leave this much room for ours. */
const MAX_OWN_COMMENT_BYTES = 32 * 1024;

function commentFor(indexes: ReadonlySet<number>, sha256: string, memberCount: number): string {
  if (indexes.size === 0) return '';
  const bits = Buffer.alloc(Math.ceil(memberCount / 8));
  for (const index of indexes) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
  return `compact:${bits.toString('base64')}:${sha256}`;
}

/** Larger samples stay packed, and are not read. */
const MAX_SAMPLE_BYTES = 256 * 1024 * 1024;
/** A member's packed bytes are one line in base64, so a log with a larger member is refused. */
const MAX_PACKED_BYTES = 128 * 1024 * 1024;
const MAX_RECORD_CHARS = Math.ceil(MAX_PACKED_BYTES / 3) * 4;
const SAMPLE_NAME = /^samples\/[^/]+_epoch_\d+\.json$/;

/** Writes the document for a log into an unnamed temporary file. Rejects when aborted. */
export async function unpackEvalLog(file: PackedFile): ReturnType<typeof unpackToSpool> {
  const zip = readZip(file.read, file.sizeBytes);
  return zip === null
    ? err(damaged(file, 'arranged-otherwise'))
    : unpackToSpool(file, (spool) => writeDocument(file, zip, spool));
}

function damaged({ path }: PackedFile, problem: CompressionProblem): FileFailure {
  return { kind: 'damaged', path, compression: 'eval', problem };
}

function writeDocument(file: PackedFile, zip: ZipFile, { limit, write, writtenBytes }: Spool): FileFailure | null {
  const { members, end } = zip;
  if (members.some(({ packedBytes }) => packedBytes > MAX_PACKED_BYTES))
    return { kind: 'member-too-large', path: file.path, limitBytes: MAX_PACKED_BYTES };
  const { indexes: repacked, ownComment } = readRepacked(file, zip);
  if (ownComment.length > MAX_OWN_COMMENT_BYTES) return damaged(file, 'arranged-otherwise');
  const newest = new Map(members.map(({ name }, index) => [name, index]));
  const head = readHead(file, members, Math.min(MAX_SAMPLE_BYTES, limit.maxBytes));
  if (head === null) return damaged(file, 'broken');
  const zipEnd = `${base64(end)}.${base64(Buffer.from(ownComment, 'latin1'))}`;
  let failure = write(head.slice(0, -1), ',', ZIP_END[0], zipEnd, ZIP_END[1]);
  for (const [index, member] of members.entries()) {
    file.signal?.throwIfAborted();
    if (failure !== null) return failure;
    const { method, sizeBytes } = member;
    const packed = file.read(member.dataStart, member.packedBytes);
    const isSample = SAMPLE_NAME.test(member.name) && newest.get(member.name) === index;
    const mayBeRead = isSample && !member.isEncrypted && method in ENGINES;
    if (mayBeRead && sizeBytes + writtenBytes() > limit.maxBytes) return limit.failure;
    const text = mayBeRead && sizeBytes <= MAX_SAMPLE_BYTES ? unpackMember(member, packed) : null;
    if (text === 'broken') return damaged(file, 'broken');
    const start = `${index === 0 ? '' : ','}${FRAME_BREAK}${FRAME_START}${base64(member.local)}.${base64(member.central)}`;
    const record = `${PACKED_RECORD}${base64(packed)}","method":${method},"size":${sizeBytes}},`;
    failure =
      text === null || !isObject(text)
        ? write(start, `.${member.crc32}.${sizeBytes}`, DATA_START, base64(packed), '"}')
        : write(start, PACKED_START, repacked.has(index) ? '' : record, '{"packed":""}],', text.subarray(1));
  }
  return failure ?? write(LOG_END);
}

/** What the log is, from its header, or from its beginning if it was never finished; null: neither can be read. */
function readHead(file: PackedFile, members: readonly ZipMember[], maxBytes: number): string | null {
  for (const wanted of ['header.json', '_journal/start.json']) {
    const member = members.findLast(({ name }) => name === wanted);
    if (member === undefined || member.isEncrypted || !(member.method in ENGINES)) continue;
    if (member.sizeBytes > maxBytes) return null;
    const text = unpackMember(member, file.read(member.dataStart, member.packedBytes));
    if (text === null || text === 'broken') return null;
    const head = parseJson(text.toString('utf8'));
    if (head === undefined) return null;
    const { version = 0, status = 'started', eval: spec = {} } = Object(head);
    return JSON.stringify({ version, status, eval: { task: String(Object(spec).task) } });
  }
  return null;
}

/** The text of the sample whose packed bytes are in this record; null: they cannot be unpacked. */
export function unpackRecord(bytes: Uint8Array): Uint8Array | null {
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (record.length <= 20 || !startsAt(record, 0, PACKED_RECORD)) return null;
  const end = record.indexOf('"', PACKED_RECORD.length);
  const [, method, size] = /^","method":(\d+),"size":(\d+)\}/.exec(record.toString('latin1', end, end + 60)) ?? [];
  const engine = ENGINES[Number(method)];
  const sizeBytes = Number(size);
  if (engine === undefined || end - PACKED_RECORD.length > MAX_RECORD_CHARS || !(sizeBytes <= MAX_SAMPLE_BYTES))
    return null;
  const packed = Buffer.from(record.toString('latin1', PACKED_RECORD.length, end), 'base64');
  const text = tryUnpack(engine, packed, sizeBytes);
  return text?.length === sizeBytes ? text : null;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** The members that were packed anew, and the comment without our part. */
function readRepacked(file: PackedFile, { members, comment }: ZipFile) {
  const [mark = '', encoded = '', expected = ''] = REPACKED.exec(comment) ?? [];
  const bits = Buffer.from(encoded, 'base64');
  const indexes = Array.from({ length: bits.length * 8 }, (_, index) => index).filter(
    (index) => (((bits[index >> 3] ?? 0) >> (index & 7)) & 1) === 1,
  );
  const hash = createHash('sha256');
  const marked = indexes.map((index) => members[index]).filter((member) => member !== undefined);
  for (const { dataStart, packedBytes } of marked) hash.update(file.read(dataStart, packedBytes));
  const isOurs = mark !== '' && marked.length === indexes.length && hash.digest('hex') === expected;
  return isOurs
    ? { indexes: new Set(indexes), ownComment: comment.slice(0, -mark.length) }
    : { indexes: new Set<number>(), ownComment: comment };
}

/** Can be embedded in our document: an object with a first key, and without our markers. */
function isObject(text: Buffer): boolean {
  const isFilled = /^\{\s*"/.test(text.toString('latin1', 0, 64));
  const isPlain = text.at(-1) === 0x7d && !text.includes(FRAME_START) && !text.includes('"compact_packed"');
  return isFilled && isPlain;
}

type Engine = {
  readonly unpack: (packed: Uint8Array, sizeBytes: number) => Buffer;
  readonly pack: (text: Uint8Array) => Uint8Array;
};

/** The methods of zip that Inspect uses, with the levels that it uses. */
const ENGINES: { readonly [method: number]: Engine } = {
  0: { unpack: (packed) => Buffer.from(packed), pack: (text) => text },
  8: {
    unpack: (packed, sizeBytes) => inflateRawSync(packed, { maxOutputLength: Math.max(1, sizeBytes) }),
    pack: (text) => deflateRawSync(text),
  },
  93: {
    unpack: unpackFrames,
    pack: (text) => zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: 3 } }),
  },
};

/** Node reads one frame at a time. */
function unpackFrames(packed: Uint8Array, sizeBytes: number): Buffer {
  const frames: Buffer[] = [];
  let left = sizeBytes;
  for (let at = 0; at < packed.length;) {
    const options = { info: true, maxOutputLength: Math.max(1, left) };
    // The types do not know what `info` returns.
    const { buffer, engine }: { buffer?: unknown; engine?: unknown } = zstdDecompressSync(packed.subarray(at), options);
    const read = typeof engine === 'object' && engine !== null && 'bytesWritten' in engine ? engine.bytesWritten : 0;
    if (!Buffer.isBuffer(buffer) || typeof read !== 'number' || read === 0) break;
    frames.push(buffer);
    left -= buffer.length;
    at += read;
  }
  return Buffer.concat(frames);
}

function unpackMember({ method, sizeBytes, crc32: expected }: ZipMember, packed: Uint8Array): Buffer | 'broken' | null {
  const engine = ENGINES[method];
  if (engine === undefined) return null;
  const text = tryUnpack(engine, packed, sizeBytes);
  return text?.length === sizeBytes && crc32(text) === expected ? text : 'broken';
}

/** null: it is damaged, or becomes larger than this. */
function tryUnpack(engine: Engine, packed: Uint8Array, sizeBytes: number): Buffer | null {
  try {
    return engine.unpack(packed, sizeBytes);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

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

function createPacker(write: PendingFile['write']) {
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
  const add = (piece: Buffer): Result<void, FileFailure> => {
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
    end: (rest: Buffer): Result<void, FileFailure> => {
      if (!rest.subarray(-LOG_END.length).equals(Buffer.from(LOG_END))) throw new Error('the document has no end');
      const last = add(rest.subarray(0, -LOG_END.length));
      if (!last.ok) return last;
      const start = state.head.lastIndexOf(ZIP_END[0]);
      const [end = '', comment = ''] = state.head.slice(start + ZIP_END[0].length, -ZIP_END[1].length).split('.');
      if (start < 0 || directory.length === 0) throw new Error('the document is not that of a zip file');
      const directoryStart = state.offset;
      const ownComment = Buffer.from(comment, 'base64').toString('latin1');
      const mark = commentFor(repacked, repackedHash.digest('hex'), directory.length);
      const fullComment = `${ownComment}${mark}`;
      return put(...directory, fillEnd(Buffer.from(end, 'base64'), directoryStart, fullComment));
    },
  };
}

function readFrame(frame: Buffer) {
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
function createPending() {
  let held = Buffer.allocUnsafe(1024 * 1024);
  let [begin, end, scanned] = [0, 0, 0];
  return {
    append: (bytes: Uint8Array): void => {
      if (end + bytes.length > held.length) {
        const kept = held.subarray(begin, end);
        held = Buffer.concat([kept], Math.max(held.length, (kept.length + bytes.length) * 2));
        [begin, end, scanned] = [0, kept.length, scanned - begin];
      }
      held.set(bytes, end);
      end += bytes.length;
    },
    /** What comes before the mark, without the first byte of the mark itself; null: the mark is not here yet. */
    takeUntil: (mark: Buffer): Buffer | null => {
      const at = held.subarray(0, end).indexOf(mark, scanned);
      scanned = at < 0 ? Math.max(begin, end - mark.length + 1) : at + 1;
      if (at < 0) return null;
      const piece = held.subarray(begin, at);
      begin = at + 1;
      return piece;
    },
    takeRest: (): Buffer => held.subarray(begin, end),
  };
}
