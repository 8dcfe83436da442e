import { describe, expect, it } from '@jest/globals';
import { encode } from 'cbor2';
import { assertedSignals, attestedSignals, fullSecurityOf } from './signals.rules.js';

const KEY = Buffer.from(encode(new Map([[1, 2]])));
const CATEGORY = 'apple_validation_category_01';
const VERSION = 'apple_bundle_version_01';
const NONE = { category: null, bundle_version: null };

const bytes = (...numbers: number[]) => Uint8Array.of(...numbers);
const map = (members: readonly (readonly [unknown, unknown])[]) => Buffer.from(encode(new Map(members)));
const behind = (head: number, ...tail: readonly Buffer[]) => Buffer.concat([Buffer.alloc(head), ...tail]);

/** Read from an attestation and from an assertion, with the flag that announces the map and without. */
function both(...tail: readonly Buffer[]) {
  const [attested, asserted] = [behind(87, KEY, ...tail), behind(37, ...tail)];
  const before = [attestedSignals(attested), assertedSignals(asserted)];
  for (const one of [attested, asserted]) one[32] = 0x80;
  expect([attestedSignals(attested), assertedSignals(asserted)]).toEqual(before);
  expect(before[0]).toEqual(before[1]);
  return before[0];
}

describe('signals of iOS and macOS 27', () => {
  it.each([
    ['bytes, the lowest first', bytes(4, 0, 0, 0), 4],
    ['the largest bytes', bytes(255, 255, 255, 255), 4_294_967_295],
    ['a number', 10, 10],
    ['three bytes', bytes(4, 0, 0), null],
    ['five bytes', bytes(4, 0, 0, 0, 0), null],
    ['a number below zero', -1, null],
    ['a number that is too large', 4_294_967_296, null],
    ['a fraction', 1.5, null],
    ['a number beyond all', 2n ** 60n, null],
    ['text', '4', null],
    ['null', null, null],
  ])('a category of %s → %s', (_, sent, category) => {
    expect(both(map([[CATEGORY, sent]]))).toEqual({ category, bundle_version: null });
  });

  it.each([
    ['2.10.3', '2.10.3'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), null],
    ['', null],
    ['1\u0000', null],
    [7, null],
    [bytes(49), null],
  ])('a bundle version of %j → %j', (sent, bundle_version) => {
    expect(both(map([[VERSION, sent]]))).toEqual({ category: null, bundle_version });
  });

  it('unknown members, whatever they are → ignored', () => {
    const members = [
      [CATEGORY, 4],
      ['code_directory', [bytes(1), new Map([[1, null]])]],
      [7, true],
      [VERSION, '9'],
    ] as const;
    expect(both(map(members))).toEqual({ category: 4, bundle_version: '9' });
  });

  it.each([
    ['nothing', []],
    ['an empty map', [map([])]],
    ['no map', [Buffer.from(encode([1]))]],
    ['bytes behind the map', [map([[CATEGORY, 4]]), Buffer.of(0)]],
    ['a map that is cut', [map([[VERSION, '2.10.3']]).subarray(0, -1)]],
    ['a member twice', [Buffer.from(`a2${'6161'}01${'6161'}02`, 'hex')]],
    ['a map without an end', [Buffer.from('bf616101ff', 'hex')]],
    ['nested deeper than sixteen', [Buffer.concat([Buffer.from('a10a', 'hex'), Buffer.alloc(40, 0x81), Buffer.of(0)])]],
    ['no CBOR', [Buffer.from('ffff', 'hex')]],
  ])('%s → no signals', (_, tail) => {
    expect(both(...tail)).toEqual(NONE);
  });

  it('an attestation without the key → no signals', () => {
    expect(attestedSignals(behind(87, map([[CATEGORY, 4]])))).toEqual(NONE);
    expect(attestedSignals(Buffer.alloc(37))).toEqual(NONE);
    expect(assertedSignals(Buffer.alloc(0))).toEqual(NONE);
  });
});

describe('the leaf of a Mac', () => {
  it('no certificate, or one without the extension → null', () => {
    expect(fullSecurityOf(Buffer.alloc(0))).toBeNull();
    expect(fullSecurityOf(Buffer.from('3000', 'hex'))).toBeNull();
  });
});
