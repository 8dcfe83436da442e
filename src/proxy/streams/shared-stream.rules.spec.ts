import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { addArguments, bytesEntry, endEntry, headEntry, idAfter, openEntry } from './shared-stream.rules.js';

const key = createSecretKey(Buffer.alloc(32, 1));
const HEAD = { endpointSlug: null, status: 200, contentType: 'text/event-stream', maxBytes: 9, resumeSeconds: 5 };
const END = { state: 'complete', isWhole: true, length: 7, expiresAtMs: 1_000 } as const;

describe('a stream in Redis', () => {
  it('head, bytes, end → opened in the order of their ids', () => {
    const entries = [headEntry(key, HEAD), bytesEntry(key, 0, Buffer.from('abcdefg')), endEntry(key, END)];
    expect(entries.map(({ id }) => id)).toEqual(['0-1', '7-0', '8-0']);
    expect(entries.map((entry) => openEntry(key, entry.sealed))).toEqual([
      { kind: 'head', head: HEAD },
      { kind: 'bytes', start: 0, bytes: Buffer.from('abcdefg') },
      { kind: 'end', end: END },
    ]);
    expect([idAfter(0), idAfter(6), idAfter(7)]).toEqual(['1-0', '7-0', '8-0']);
  });

  it('another key, a changed bit, a foreign entry → undefined; the sealed entry shows no plain text', () => {
    const entry = bytesEntry(key, 0, Buffer.from('a secret answer'));
    expect(openEntry(createSecretKey(Buffer.alloc(32, 2)), entry.sealed)).toBeUndefined();
    for (let at = 0; at < entry.sealed.length; at++) {
      const changed = Buffer.from(entry.sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(openEntry(key, changed)).toBeUndefined();
    }
    for (const sealed of [Buffer.alloc(0), Buffer.alloc(12), Buffer.alloc(40)])
      expect(openEntry(key, sealed)).toBeUndefined();
    expect(entry.sealed.includes('secret')).toBe(false);
  });

  it('adding to a stream that does not exist → does not create it', () => {
    const entry = bytesEntry(key, 0, Buffer.from('a'));
    expect(addArguments({ mark: 'm' }, entry, true)).toEqual(['gw:stream:m', '1-0', 's', entry.sealed]);
    expect(addArguments({ mark: 'm' }, entry, false)[1]).toBe('NOMKSTREAM');
  });
});
