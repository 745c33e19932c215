import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { constants, crc32, deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { err, ok, type Result } from '../../core/result.ts';
import type { CompressionProblem, FileFailure } from '../../ports/files.ts';
import { type CompressedFile, type Decompressed, findLimit, type Limit, openSpool, tryWrite } from './decompress.ts';
import { readZip, type ZipFile, type ZipMember } from './zip.ts';

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
export const FRAME_START = '{"compact_zip":"';
export const DATA_START = '","data":"';
export const PACKED_START = '","compact_packed":[';
export const FRAME_BREAK = '\n';
const PACKED_RECORD = '{"packed":"';
export const LOG_END = '\n]}\n';
/** What comes before the base64 of the end of the zip file, and after it. */
export const ZIP_END = ['"compact_zip_end":"', '","samples":['] as const;

/**
 * The end of the comment: the bits of the members that were packed anew, in base64, and the sha256 of their packed bytes. Only a comment whose
 * hash is right is ours; any other belongs to the log.
 */
const REPACKED = /compact:([A-Za-z0-9+/]*={0,2}):([0-9a-f]{64})$/;
/** A comment of the log must leave this much room for ours. */
const MAX_OWN_COMMENT_BYTES = 32 * 1024;

export type Repacked = { readonly indexes: ReadonlySet<number>; readonly sha256: string };

export function commentFor({ indexes, sha256 }: Repacked, memberCount: number): string {
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

type EvalLogFile = Omit<CompressedFile, 'compression'>;

/** Writes the document for a log into an unnamed temporary file. Rejects when aborted. */
export async function unpackEvalLog(file: EvalLogFile): Promise<Result<Decompressed, FileFailure>> {
  const zip = readZip(file.read, file.sizeBytes);
  if (zip === null) return damaged(file, 'arranged-otherwise');
  const spool = openSpool(file.path);
  if (!spool.ok) return spool;
  try {
    const unpacked = writeDocument(file, zip, { fd: spool.value, limit: findLimit(file) });
    if (!unpacked.ok) closeSync(spool.value);
    return unpacked;
  } catch (error) {
    closeSync(spool.value);
    throw error;
  }
}

function damaged({ path }: EvalLogFile, problem: CompressionProblem): Result<never, FileFailure> {
  return err({ kind: 'damaged', path, compression: 'eval', problem });
}

function writeDocument(
  file: EvalLogFile,
  zip: ZipFile,
  { fd, limit }: { readonly fd: number; readonly limit: Limit },
): Result<Decompressed, FileFailure> {
  let written = 0;
  const write = (...pieces: readonly (string | Uint8Array)[]): FileFailure | null => {
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
      written += bytes.length;
      const failure = written > limit.maxBytes ? limit.failure : tryWrite(fd, bytes, file.path);
      if (failure !== null) return failure;
    }
    return null;
  };
  const { members, end } = zip;
  if (members.some(({ packedBytes }) => packedBytes > MAX_PACKED_BYTES))
    return err({ kind: 'member-too-large', path: file.path, limitBytes: MAX_PACKED_BYTES });
  const { indexes: repacked, ownComment } = readRepacked(file, zip);
  if (ownComment.length > MAX_OWN_COMMENT_BYTES) return damaged(file, 'arranged-otherwise');
  const newest = new Map(members.map(({ name }, index) => [name, index]));
  const head = readHead(file, members, Math.min(MAX_SAMPLE_BYTES, limit.maxBytes));
  if (head === null) return damaged(file, 'broken');
  const zipEnd = `${base64(end)}.${base64(Buffer.from(ownComment, 'latin1'))}`;
  let failure = write(head.slice(0, -1), ',', ZIP_END[0], zipEnd, ZIP_END[1]);
  for (const [index, member] of members.entries()) {
    file.signal?.throwIfAborted();
    if (failure !== null) break;
    const packed = file.read(member.dataStart, member.packedBytes);
    const isSample = SAMPLE_NAME.test(member.name) && newest.get(member.name) === index;
    const mayBeRead = isSample && !member.isEncrypted && member.method in ENGINES;
    if (mayBeRead && member.sizeBytes + written > limit.maxBytes) return err(limit.failure);
    const text = mayBeRead && member.sizeBytes <= MAX_SAMPLE_BYTES ? unpackMember(member, packed) : null;
    if (text === 'broken') return damaged(file, 'broken');
    const start = `${index === 0 ? '' : ','}${FRAME_BREAK}${FRAME_START}${base64(member.local)}.${base64(member.central)}`;
    if (text === null || !isObject(text)) {
      const numbers = `.${member.crc32}.${member.sizeBytes}`;
      failure = write(start, numbers, DATA_START, base64(packed), '"}');
    } else {
      const { method, sizeBytes } = member;
      const own = repacked.has(index)
        ? ''
        : `${PACKED_RECORD}${base64(packed)}","method":${method},"size":${sizeBytes}},`;
      failure = write(start, PACKED_START, own, '{"packed":""}],', text.subarray(1));
    }
  }
  failure ??= write(LOG_END);
  return failure === null ? ok({ fd, sizeBytes: written }) : err(failure);
}

/** What the log is, from its header, or from its beginning if it was never finished; null: neither can be read. */
function readHead(file: EvalLogFile, members: readonly ZipMember[], maxBytes: number): string | null {
  for (const wanted of ['header.json', '_journal/start.json']) {
    const member = members.findLast(({ name }) => name === wanted);
    if (member === undefined || member.isEncrypted || !(member.method in ENGINES)) continue;
    if (member.sizeBytes > maxBytes) return null;
    const text = unpackMember(member, file.read(member.dataStart, member.packedBytes));
    if (text === null || text === 'broken') return null;
    try {
      const { version = 0, status = 'started', eval: spec = {} } = Object(JSON.parse(text.toString('utf8')));
      return JSON.stringify({ version, status, eval: { task: String(Object(spec).task) } });
    } catch (error) {
      if (error instanceof SyntaxError) return null;
      throw error;
    }
  }
  return null;
}

function isPackedRecord(bytes: Uint8Array): boolean {
  return (
    bytes.length > 20 &&
    Buffer.from(bytes.buffer, bytes.byteOffset, PACKED_RECORD.length).toString('latin1') === PACKED_RECORD
  );
}

/** The text of the sample whose packed bytes are in this record; null: they cannot be unpacked. */
export function unpackRecord(bytes: Uint8Array): Uint8Array | null {
  if (!isPackedRecord(bytes)) return null;
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = record.indexOf('"', PACKED_RECORD.length);
  const [, method, size] = /^","method":(\d+),"size":(\d+)\}/.exec(record.toString('latin1', end, end + 60)) ?? [];
  const engine = ENGINES[Number(method)];
  const sizeBytes = Number(size);
  if (engine === undefined || end - PACKED_RECORD.length > MAX_RECORD_CHARS || !(sizeBytes <= MAX_SAMPLE_BYTES))
    return null;
  const text = tryUnpack(
    engine,
    Buffer.from(record.toString('latin1', PACKED_RECORD.length, end), 'base64'),
    sizeBytes,
  );
  return text?.length === sizeBytes ? text : null;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** The members that were packed anew, and the comment without our part. */
function readRepacked(
  file: EvalLogFile,
  { members, comment }: ZipFile,
): { readonly indexes: ReadonlySet<number>; readonly ownComment: string } {
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
    : { indexes: new Set(), ownComment: comment };
}

/** Can be embedded in our document: an object with a first key, and without our markers. */
function isObject(text: Buffer): boolean {
  const isFilled = /^\{\s*"/.test(text.toString('latin1', 0, 64));
  const isPlain = text.at(-1) === 0x7d && !text.includes(FRAME_START) && !text.includes('"compact_packed"');
  return isFilled && isPlain;
}

export type Engine = {
  readonly unpack: (packed: Uint8Array, sizeBytes: number) => Buffer;
  readonly pack: (text: Uint8Array) => Uint8Array;
};

/** The methods of zip that Inspect uses, with the levels that it uses. */
export const ENGINES: { readonly [method: number]: Engine } = {
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
export function tryUnpack(engine: Engine, packed: Uint8Array, sizeBytes: number): Buffer | null {
  try {
    return engine.unpack(packed, sizeBytes);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
