import fc from 'fast-check';

type Change = (bytes: Buffer) => Buffer;

/** Headers that claim more bytes than exist, or that never end: CBOR arrays, maps, strings and tags; DER lengths. */
const HOSTILE_HEADERS = [
  '9bffffffffffffffff',
  'bbffffffffffffffff',
  '5bffffffffffffffff',
  '7affffffff',
  '9f',
  'bf',
  '5f',
  'ff',
  'c1',
  '308400ffffff',
  '3080',
  '0484ffffffff',
].map((hex) => Buffer.from(hex, 'hex'));

const place = fc.double({ min: 0, max: 1, noNaN: true });
const header = fc.constantFrom(...HOSTILE_HEADERS);
const noise = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes));

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(([at, mask]) => (bytes: Buffer) => {
    const changed = Buffer.from(bytes);
    const index = offset(bytes, at);
    changed[index] = (bytes[index] ?? 0) ^ mask;
    return changed;
  }),
  fc.tuple(place, fc.oneof(noise, header)).map(
    ([at, inserted]) =>
      (bytes: Buffer) =>
        splice(bytes, at, 0, inserted),
  ),
  fc.tuple(place, fc.oneof(noise, header)).map(
    ([at, written]) =>
      (bytes: Buffer) =>
        splice(bytes, at, written.length, written),
  ),
  fc.tuple(place, fc.nat(40)).map(
    ([at, length]) =>
      (bytes: Buffer) =>
        splice(bytes, at, length, Buffer.alloc(0)),
  ),
  fc.tuple(place, place).map(([from, to]) => (bytes: Buffer) => {
    const [start, end] = [offset(bytes, Math.min(from, to)), offset(bytes, Math.max(from, to))];
    return splice(bytes, from, 0, bytes.subarray(start, end));
  }),
  place.map((at) => (bytes: Buffer) => bytes.subarray(0, offset(bytes, at))),
);

/** Genuine bytes with one to four changes: bits, insertions, deletions, repetitions, cuts, hostile lengths. */
export function mutatedBytes(genuine: Buffer): fc.Arbitrary<Buffer> {
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    return changes.reduce((bytes, changed) => changed(bytes), genuine);
  });
}

function offset(bytes: Buffer, at: number): number {
  return Math.min(Math.floor(at * bytes.length), Math.max(bytes.length - 1, 0));
}

function splice(bytes: Buffer, at: number, removed: number, inserted: Buffer): Buffer {
  const start = offset(bytes, at);
  return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + removed)]);
}
