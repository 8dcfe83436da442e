import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KeptStream, type StreamKeeper } from './kept-stream.js';

const FACTS = {
  id: 'st_1',
  mark: 'm',
  appId: 'app',
  endpointSlug: null,
  status: 200,
  contentType: '',
  resumeSeconds: 60,
};

/** Counts the memory that a stream uses. */
class CountingKeeper implements StreamKeeper {
  bytes = 0;
  ends = 0;

  constructor(private readonly roomBytes = Number.POSITIVE_INFINITY) {}

  reserve(_stream: KeptStream, bytes: number): boolean {
    if (this.bytes + bytes > this.roomBytes) return false;
    this.bytes += bytes;
    return true;
  }

  release(_stream: KeptStream, bytes: number): void {
    this.bytes -= bytes;
  }

  ended(): void {
    this.ends++;
  }
}

function begin(maxBytes = 1_000_000, keeper = new CountingKeeper()) {
  return { keeper, stream: new KeptStream({ ...FACTS, maxBytes }, keeper) };
}

function bytesFrom(stream: KeptStream, from: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = from, piece = stream.read(at); piece !== undefined; piece = stream.read(at)) {
    pieces.push(piece);
    at += piece.length;
  }
  return Buffer.concat(pieces);
}

describe('KeptStream', () => {
  it('any chunks → the same bytes from any offset, and an exact account of their memory', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5_000 })), fc.nat(20_000), (pieces, from) => {
        const { stream, keeper } = begin();
        for (const piece of pieces) expect(stream.append(Buffer.from(piece))).toBe(true);
        const all = Buffer.concat(pieces);
        expect(bytesFrom(stream, Math.min(from, all.length))).toEqual(all.subarray(Math.min(from, all.length)));
        expect(stream.heldBytes).toBe(keeper.bytes);
        stream.end('complete', true);
        expect([stream.length, keeper.bytes, stream.state]).toEqual([all.length, all.length, 'complete']);
        expect(bytesFrom(stream, 0)).toEqual(all);
      }),
    );
  });

  it('a chunk that its owner changes later → the original bytes', () => {
    const { stream } = begin();
    const chunk = Buffer.from('abc');
    stream.append(chunk);
    chunk.fill('x');
    expect(bytesFrom(stream, 0).toString()).toBe('abc');
  });

  it('more than max_bytes → the first bytes are kept, and the rest is reported as lost once', () => {
    const { stream, keeper } = begin(5);
    expect(stream.append(Buffer.from('abc'))).toBe(true);
    expect(stream.append(Buffer.from('defg'))).toBe(false);
    expect(stream.append(Buffer.from('h'))).toBe(false);
    stream.end('complete', true);
    expect([bytesFrom(stream, 0).toString(), stream.state, stream.isWhole, keeper.ends]).toEqual([
      'abcde',
      'lost',
      false,
      1,
    ]);
  });

  it('no memory → reported as lost', () => {
    const { stream } = begin(1_000_000, new CountingKeeper(4_000));
    expect(stream.append(Buffer.alloc(1_000))).toBe(true);
    expect(stream.append(Buffer.alloc(3_000))).toBe(false);
    expect([stream.state, stream.length]).toEqual(['lost', 2_048]);
  });

  it('followers → notified of each addition and of the end; dropped → notified while the bytes are still here, then the memory is released', () => {
    const { stream, keeper } = begin();
    const seen: string[] = [];
    const unfollow = stream.follow(() => seen.push(`${stream.state} ${bytesFrom(stream, 0)}`));
    const other = stream.follow(() => seen.push('other'));
    stream.append(Buffer.from('a'));
    other();
    stream.end('complete', true);
    stream.drop();
    expect(seen).toEqual(['live a', 'other', 'complete a', 'lost a']);
    expect([stream.read(0), keeper.bytes, stream.isWhole]).toEqual([undefined, 0, false]);
    unfollow();
  });

  it('stopped → its call is cancelled once, and it stays stopped', () => {
    const { stream } = begin();
    let stops = 0;
    stream.onStop = () => {
      stops++;
      stream.end('lost');
    };
    stream.stop();
    stream.stop();
    stream.drop();
    expect([stops, stream.state]).toEqual([1, 'stopped']);
  });
});
