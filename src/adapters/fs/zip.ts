/**
 * The numbers of a zip file are blanked in its headers while its members are elsewhere, and filled in again afterwards,
 * so that everything else in the headers stays as it was. https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
export type ZipNumbers = {
  readonly crc32: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  /** Where the local header begins. */
  readonly offset: number;
};

/** The headers with their numbers blanked. */
export type ZipHeaders = { readonly local: Uint8Array; readonly central: Uint8Array };

export type ZipMember = ZipNumbers &
  ZipHeaders & {
    readonly name: string;
    /** 0: stored, 8: deflate, 93: zstd. */
    readonly method: number;
    readonly isEncrypted: boolean;
    /** Where its data begins. */
    readonly dataStart: number;
  };

export type ZipFile = {
  readonly members: readonly ZipMember[];
  /** What follows the headers of all members, with the numbers blanked and without the comment. */
  readonly end: Uint8Array;
  readonly comment: string;
};

type ReadBytes = (start: number, length: number) => Uint8Array;

const LOCAL = { signature: 0x04034b50, bytes: 30, crc32: 14, packed: 18, size: 22, name: 26, extra: 28 };
const CENTRAL = { signature: 0x02014b50, bytes: 46, crc32: 16, packed: 20, size: 24, name: 28, extra: 30 };
const CENTRAL_COMMENT = 32;
const CENTRAL_OFFSET = 42;
const END = { signature: 0x06054b50, bytes: 22, directorySize: 12, directoryOffset: 16, comment: 20 };
const END64 = { signature: 0x06064b50, bytes: 56, directorySize: 40, directoryOffset: 48 };
const LOCATOR = { signature: 0x07064b50, bytes: 20, end64Offset: 8 };
const MAX_COMMENT_BYTES = 0xffff;
/** In a field of 32 bits: the number is in the extra field of zip64. */
const ELSEWHERE = 0xffffffff;
const ZIP64_EXTRA = 1;

const BLANK: ZipNumbers = { crc32: 0, packedBytes: 0, sizeBytes: 0, offset: 0 };

/**
 * Reads a zip file whose members follow each other without gaps, in the order of its directory. null: it is cut off,
 * or arranged in another way, so that it could not be written again byte for byte.
 */
export function readZip(read: ReadBytes, sizeBytes: number): ZipFile | null {
  const tail = findEnd(read, sizeBytes);
  if (tail === null) return null;
  const { directoryStart, directoryBytes, end, comment } = tail;
  const directory = read(directoryStart, directoryBytes);
  if (directory.length !== directoryBytes) return null;
  const members: ZipMember[] = [];
  let offset = 0;
  for (let at = 0; at < directory.length;) {
    const member = readMember(read, directory.subarray(at), offset);
    if (member === null) return null;
    members.push(member);
    at += member.central.length;
    offset = member.dataStart + member.packedBytes;
  }
  return offset === directoryStart ? { members, end, comment } : null;
}

function findEnd(
  read: ReadBytes,
  sizeBytes: number,
): (Pick<ZipFile, 'end' | 'comment'> & { readonly directoryStart: number; readonly directoryBytes: number }) | null {
  const start = Math.max(0, sizeBytes - MAX_COMMENT_BYTES - END.bytes - LOCATOR.bytes - END64.bytes);
  const tail = Buffer.from(read(start, sizeBytes - start));
  for (let at = tail.length - END.bytes; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END.signature) continue;
    if (at + END.bytes + tail.readUInt16LE(at + END.comment) !== tail.length) continue;
    const has64 = at >= LOCATOR.bytes && tail.readUInt32LE(at - LOCATOR.bytes) === LOCATOR.signature;
    const from = has64 ? at - LOCATOR.bytes - END64.bytes : at;
    if (from < 0 || (has64 && tail.readUInt32LE(from) !== END64.signature)) return null;
    const directoryBytes = has64
      ? Number(tail.readBigUInt64LE(from + END64.directorySize))
      : tail.readUInt32LE(at + END.directorySize);
    const directoryStart = start + from - directoryBytes;
    const end = tail.subarray(from, at + END.bytes);
    const comment = tail.toString('latin1', at + END.bytes);
    const blank = fillEnd(end, 0, '');
    const isIn32Bits = directoryStart <= ELSEWHERE || tail.readUInt32LE(at + END.directoryOffset) === ELSEWHERE;
    const isExact =
      directoryStart >= 0 && isIn32Bits && fillEnd(blank, directoryStart, comment).equals(tail.subarray(from));
    return isExact ? { directoryStart, directoryBytes, end: blank, comment } : null;
  }
  return null;
}

/** The end of a zip file whose directory begins at this offset. */
export function fillEnd(blank: Uint8Array, directoryStart: number, comment: string): Buffer {
  const end = Buffer.concat([blank, Buffer.from(comment, 'latin1')]);
  const at = blank.length - END.bytes;
  end.writeUInt16LE(end.length - blank.length, at + END.comment);
  if (end.readUInt32LE(at + END.directoryOffset) !== ELSEWHERE)
    end.writeUInt32LE(directoryStart, at + END.directoryOffset);
  if (at === 0) return end;
  const directoryBytes = Number(end.readBigUInt64LE(END64.directorySize));
  end.writeBigUInt64LE(BigInt(directoryStart), END64.directoryOffset);
  const end64Offset = directoryStart === 0 ? 0 : directoryStart + directoryBytes;
  end.writeBigUInt64LE(BigInt(end64Offset), END64.bytes + LOCATOR.end64Offset);
  return end;
}

function readMember(read: ReadBytes, directory: Uint8Array, offset: number): ZipMember | null {
  const central = headerIn(directory, CENTRAL);
  const length = headerLength(Buffer.from(read(offset, LOCAL.bytes)), LOCAL);
  const local = length === 0 ? null : headerIn(read(offset, length), LOCAL);
  if (central === null || local === null) return null;
  // Flags, method and time.
  if (!local.subarray(6, 14).equals(central.subarray(8, 16))) return null;
  const numbers = readNumbers(central);
  if (numbers.offset !== offset || !doNumbersFit(local, numbers)) return null;
  const blank = { local: fillHeader(local, LOCAL, BLANK), central: fillHeader(central, CENTRAL, BLANK) };
  // This refuses other numbers in the local header, data descriptors, and members in another order.
  const filled = fillHeaders(blank, numbers);
  if (!filled.local.equals(local) || !filled.central.equals(central)) return null;
  return {
    ...numbers,
    ...blank,
    name: central.toString('utf8', CENTRAL.bytes, CENTRAL.bytes + central.readUInt16LE(CENTRAL.name)),
    method: methodOf(blank),
    isEncrypted: (local.readUInt16LE(6) & 1) === 1,
    dataStart: offset + local.length,
  };
}

export function methodOf({ local }: ZipHeaders): number {
  return Buffer.from(local).readUInt16LE(8);
}

type HeaderShape = typeof LOCAL;

/** The whole header that bytes begin with; null: there is none. */
function headerIn(bytes: Uint8Array, shape: HeaderShape): Buffer | null {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = headerLength(header, shape);
  return length > 0 && length <= header.length ? header.subarray(0, length) : null;
}

/** Of the header that bytes begin with, with its name and extra fields; 0: there is none. */
function headerLength(header: Buffer, shape: HeaderShape): number {
  if (header.length < shape.bytes || header.readUInt32LE(0) !== shape.signature) return 0;
  const comment = shape === CENTRAL ? header.readUInt16LE(CENTRAL_COMMENT) : 0;
  return shape.bytes + header.readUInt16LE(shape.name) + header.readUInt16LE(shape.extra) + comment;
}

/** Where each number is that zip64 moved into the extra field, in the order of the format. */
function placesOf(header: Buffer, shape: HeaderShape): ReadonlyMap<number, number> {
  const fields = [shape.size, shape.packed, ...(shape === CENTRAL ? [CENTRAL_OFFSET] : [])];
  const moved = fields.filter((field) => header.readUInt32LE(field) === ELSEWHERE);
  const end = shape.bytes + header.readUInt16LE(shape.name) + header.readUInt16LE(shape.extra);
  for (let at = shape.bytes + header.readUInt16LE(shape.name); at + 4 <= end;) {
    const length = header.readUInt16LE(at + 2);
    if (header.readUInt16LE(at) === ZIP64_EXTRA && at + 4 + length <= end && moved.length * 8 <= length)
      return new Map(moved.map((field, index) => [field, at + 4 + index * 8]));
    at += 4 + length;
  }
  return new Map();
}

function readNumbers(central: Buffer): ZipNumbers {
  const places = placesOf(central, CENTRAL);
  const numberAt = (field: number): number => {
    const place = places.get(field);
    return place === undefined ? central.readUInt32LE(field) : Number(central.readBigUInt64LE(place));
  };
  return {
    crc32: central.readUInt32LE(CENTRAL.crc32),
    packedBytes: numberAt(CENTRAL.packed),
    sizeBytes: numberAt(CENTRAL.size),
    offset: numberAt(CENTRAL_OFFSET),
  };
}

function doNumbersFit(local: Buffer, { packedBytes, sizeBytes }: ZipNumbers): boolean {
  const places = placesOf(local, LOCAL);
  const doesFit = (field: number, value: number): boolean =>
    places.has(field) ? Number.isSafeInteger(value) : value <= ELSEWHERE;
  return doesFit(LOCAL.packed, packedBytes) && doesFit(LOCAL.size, sizeBytes);
}

/** The headers of a member with these numbers. */
export function fillHeaders({ local, central }: ZipHeaders, numbers: ZipNumbers) {
  return { local: fillHeader(local, LOCAL, numbers), central: fillHeader(central, CENTRAL, numbers) };
}

function fillHeader(header: Uint8Array, shape: HeaderShape, numbers: ZipNumbers): Buffer {
  const filled = Buffer.from(header);
  const places = placesOf(filled, shape);
  const set = (field: number, value: number): void => {
    const place = places.get(field);
    if (place !== undefined) filled.writeBigUInt64LE(BigInt(value), place);
    else filled.writeUInt32LE(value, field);
  };
  filled.writeUInt32LE(numbers.crc32, shape.crc32);
  set(shape.packed, numbers.packedBytes);
  set(shape.size, numbers.sizeBytes);
  if (shape === CENTRAL) set(CENTRAL_OFFSET, numbers.offset);
  return filled;
}
