import { crc32, deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

type Method = 'stored' | 'deflate' | 'zstd' | 'zstd-frames';
export type ZipLayout = {
  readonly method?: Method;
  /** The sizes of local headers are in the extra field of zip64. */
  readonly isZip64?: boolean;
  readonly comment?: string;
  /** Bytes before the second member. */
  readonly gap?: string;
  /** The size that the headers of a member tell, instead of the real one. */
  readonly claimed?: { readonly [name: string]: number };
};

const METHODS: { readonly [method in Method]: number } = { stored: 0, deflate: 8, zstd: 93, 'zstd-frames': 93 };
const DATE = 0x5c51;

function packAs(text: Buffer, method: Method): Buffer {
  if (method === 'stored') return text;
  if (method === 'deflate') return deflateRawSync(text, { level: 9 });
  if (method === 'zstd') return zstdCompressSync(text);
  const half = text.length >> 1;
  return Buffer.concat([text.subarray(0, half), text.subarray(half)].map((part) => zstdCompressSync(part)));
}

function numbers(buffer: Buffer, at: number, values: readonly number[]): void {
  for (const [index, value] of values.entries()) buffer.writeUInt32LE(value, at + index * 4);
}

/** A zip file as Python's zipfile writes it. */
export function zipOf(
  members: readonly (readonly [name: string, text: string])[],
  { method = 'deflate', isZip64 = false, comment = '', gap = '', claimed = {} }: ZipLayout = {},
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of members) {
    if (parts.length > 0 && gap !== '') {
      parts.push(Buffer.from(gap));
      offset += gap.length;
    }
    const text = Buffer.from(content);
    const packed = packAs(text, method);
    const sizes = [packed.length, claimed[name] ?? text.length] as const;
    const extra = Buffer.alloc(isZip64 ? 20 : 0);
    if (isZip64) {
      numbers(extra, 0, [0x00100001]);
      extra.writeBigUInt64LE(BigInt(sizes[1]), 4);
      extra.writeBigUInt64LE(BigInt(sizes[0]), 12);
    }
    const common = Buffer.alloc(26);
    common.writeUInt16LE(METHODS[method], 4);
    common.writeUInt16LE(DATE, 8);
    numbers(common, 10, [crc32(text), ...sizes]);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), extra]);
    if (isZip64) numbers(local, 18, [0xffffffff, 0xffffffff]);
    local.writeUInt16LE(extra.length, 28);
    const central = Buffer.alloc(46);
    central.write('PK\x01\x02\x14\x03', 'latin1');
    common.copy(central, 6);
    central.writeUInt32LE(offset, 42);
    directory.push(Buffer.concat([central, Buffer.from(name)]));
    parts.push(local, packed);
    offset += local.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  numbers(end, 12, [Buffer.concat(directory).length, offset]);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, ...directory, end, Buffer.from(comment)]);
}

export type ReadMember = { readonly name: string; readonly packed: Buffer; readonly text: string };

/** The members of a zip file, by its directory. Checks what a reader checks. */
export function readMembers(zip: Buffer): readonly ReadMember[] {
  const end = zip.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const members: ReadMember[] = [];
  let at = zip.readUInt32LE(end + 16);
  for (let count = zip.readUInt16LE(end + 10); count > 0; count -= 1) {
    const [nameBytes, extraBytes] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)];
    const offset = zip.readUInt32LE(at + 42);
    const dataStart = offset + 30 + zip.readUInt16LE(offset + 26) + zip.readUInt16LE(offset + 28);
    const packed = zip.subarray(dataStart, dataStart + zip.readUInt32LE(at + 20));
    const method = zip.readUInt16LE(at + 10);
    const text = method === 0 ? packed : method === 8 ? inflateRawSync(packed) : zstdDecompressSync(packed);
    const isSound = text.length === zip.readUInt32LE(at + 24) && crc32(text) === zip.readUInt32LE(at + 16);
    if (zip.readUInt32LE(offset) !== 0x04034b50 || !isSound) throw new Error(`a member at ${offset} is damaged`);
    members.push({ name: zip.toString('utf8', at + 46, at + 46 + nameBytes), packed, text: text.toString('utf8') });
    at += 46 + nameBytes + extraBytes;
  }
  return members;
}
