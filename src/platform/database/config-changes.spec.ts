import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EVERYTHING, encodeChange, parseChange } from './config-changes.js';

describe('configuration change', () => {
  it('any topic and key → survive a round trip in a text that fits a notification', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ unit: 'binary' }), (topic, key) => {
        const payload = encodeChange({ topic, key });
        expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
        expect(parseChange(payload)).toEqual({ topic, key });
      }),
    );
  });

  it('key longer than a notification → the whole topic', () => {
    const payload = encodeChange({ topic: 'apps', key: 'ä'.repeat(4_000) });
    expect(parseChange(payload)).toEqual({ topic: 'apps', key: EVERYTHING });
  });

  it.each([undefined, '', 'apps', '["apps"]', '["apps","a","b"]', '["apps",1]', '{"topic":"apps","key":"a"}', 'null'])(
    'unknown text %j → no change',
    (payload) => {
      expect(parseChange(payload)).toBeUndefined();
    },
  );
});
