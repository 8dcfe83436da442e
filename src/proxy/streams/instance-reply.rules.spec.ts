import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  credentialHeader,
  credentialOf,
  entriesFrom,
  isAllFrom,
  MAX_REPLY_BYTES,
  ONCE_BYTES,
  packed,
  unpacked,
} from './instance-reply.rules.js';
import { KeptStream } from './kept-stream.js';
import { openEntry } from './shared-stream.rules.js';

const key = createSecretKey(Buffer.alloc(32, 1));
const once = Buffer.alloc(ONCE_BYTES, 7);
const KEEPER = { reserve: () => true, release: () => undefined, ended: () => undefined };
const FACTS = {
  ...{ id: 'st_1', mark: 'm', appId: 'app', endpointSlug: null, status: 200, contentType: 'text/event-stream' },
  ...{ maxBytes: 4_194_304, resumeSeconds: 60 },
};

function kept(...pieces: readonly Buffer[]): KeptStream {
  const stream = new KeptStream(FACTS, KEEPER);
  for (const piece of pieces) stream.append(piece);
  return stream;
}

const kindsFrom = (stream: KeptStream, from: number) =>
  entriesFrom(key, stream, from).map(({ sealed }) => openEntry(key, sealed)?.kind);

describe('a reply of the instance that reads an answer', () => {
  it('packed → unpacked; any other bytes → undefined, or entries that do not open', () => {
    const entries = entriesFrom(key, kept(Buffer.from('abc')), 0);
    const reply = packed(once, entries);
    expect(unpacked(reply)).toEqual({ once, sealed: entries.map(({ sealed }) => sealed) });
    expect(unpacked(packed(once, []))).toEqual({ once, sealed: [] });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { sealed = [] } = unpacked(Buffer.from(bytes)) ?? {};
        expect(sealed.every((one) => openEntry(key, one) === undefined)).toBe(true);
      }),
    );
    for (let length = 0; length < reply.length; length++) {
      const whole = unpacked(reply.subarray(0, length))?.sealed ?? [];
      expect(whole.every((one, at) => one.equals(entries[at]?.sealed ?? once))).toBe(true);
    }
  });

  it('the head with the first byte alone; the end once it is known, behind the last byte', () => {
    const stream = kept(Buffer.from('abc'));
    expect([kindsFrom(stream, 0), kindsFrom(stream, 2), kindsFrom(stream, 3), kindsFrom(stream, 9)]).toEqual([
      ['head', 'bytes'],
      ['bytes'],
      [],
      [],
    ]);
    stream.end('complete', true);
    expect([kindsFrom(stream, 0), kindsFrom(stream, 3), kindsFrom(stream, 9)]).toEqual([
      ['head', 'bytes', 'end'],
      ['end'],
      [],
    ]);
  });

  it('a long answer → several replies, each within the bound, without a gap', () => {
    const bytes = Buffer.alloc(1_000_000, 'x');
    const stream = kept(bytes);
    let [at, replies] = [0, 0];
    for (let isAll = false; !isAll; replies++) {
      const from = at;
      const entries = entriesFrom(key, stream, from);
      expect(packed(once, entries).length).toBeLessThanOrEqual(MAX_REPLY_BYTES);
      for (const { sealed } of entries) {
        const entry = openEntry(key, sealed);
        if (entry?.kind !== 'bytes') continue;
        expect(entry.start).toBe(at);
        at += entry.bytes.length;
      }
      isAll = isAllFrom(from, at);
    }
    expect([at, replies > 1]).toEqual([bytes.length, true]);
  });
});

describe('the credential of an instance', () => {
  it('its header → read; anything else → undefined', () => {
    const credential = { sentAtMs: '1764400000000', signature: '0123456789abcdef'.repeat(2) };
    const header = credentialHeader(credential);
    expect(credentialOf(header)).toEqual(credential);
    for (const other of [undefined, '', `${header}0`, header.toUpperCase(), header.replace('Instance', 'Bearer')])
      expect(credentialOf(other)).toBeUndefined();
  });
});
