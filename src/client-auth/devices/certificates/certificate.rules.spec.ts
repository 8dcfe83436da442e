import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { DeviceVendor } from '../../../../test/support/client-auth/devices/device.js';
import { fastestMs } from '../../../../test/support/fastest-ms.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { findExtension, readCertificate } from './certificate.rules.js';
import { requireChain } from './certificate-chain.rules.js';

const MAX_BYTES = 8 * 1024;

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const lengthBytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...lengthBytes), content]);
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const many = (count: number, part: Buffer) => Array.from({ length: count }, () => part);
const extension = (id: string, value: Buffer) => sequence(objectId(id), der(0x04, value));

const ECDSA = '2a8648ce3d040302';
const ECDSA_SHA384 = '2a8648ce3d040303';
const RSA = '2a864886f70d01010b';
const BASIC_CONSTRAINTS = '551d13';
const YEARS = sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('450101000000Z')));
const COMMON_NAME = der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from('a'))));
const SPKI = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'der', type: 'spki' });

interface Written {
  readonly names?: number;
  readonly extensions?: readonly Buffer[];
  readonly algorithm?: string;
  readonly publicKey?: Buffer;
  /** The signature algorithm in the signed part. */
  readonly signedAlgorithm?: string;
}

/** A certificate with arbitrary content and a meaningless signature. */
function certificate(written: Written = {}) {
  const { names = 1, extensions = [], publicKey = SPKI, algorithm = ECDSA, signedAlgorithm = algorithm } = written;
  const version = der(0xa0, der(0x02, Buffer.of(2)));
  const subject = sequence(...many(names, COMMON_NAME));
  const extended = extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : [];
  const serial = der(0x02, Buffer.of(1));
  const signed = [
    version,
    serial,
    sequence(objectId(signedAlgorithm)),
    subject,
    YEARS,
    subject,
    publicKey,
    ...extended,
  ];
  return sequence(sequence(...signed), sequence(objectId(algorithm)), der(0x03, Buffer.alloc(9)));
}

describe('readCertificate (RFC 5280 4.1)', () => {
  it('a certificate → what it says', () => {
    const extensions = [extension('2a0304', Buffer.from('value')), extension(BASIC_CONSTRAINTS, sequence())];
    expect(readCertificate(certificate({ names: 2, extensions, algorithm: ECDSA_SHA384 }))).toMatchObject({
      subject: 'CN=a, CN=a',
      issuer: 'CN=a, CN=a',
      notBeforeMs: Date.parse('2020-01-01'),
      notAfterMs: Date.parse('2045-01-01'),
      isAuthority: false,
    });
  });

  it('its key → an elliptic-curve key, or none', () => {
    expect(readCertificate(certificate()).ecKey()?.export({ format: 'der', type: 'spki' })).toEqual(SPKI);
    const offCurve = Buffer.from(SPKI).fill(1, SPKI.length - 64);
    for (const publicKey of [
      offCurve,
      generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }),
    ])
      expect(readCertificate(certificate({ publicKey })).ecKey()).toBeUndefined();
  });

  it.each([
    ['none', [], false],
    ['empty', [extension(BASIC_CONSTRAINTS, sequence())], false],
    ['false', [extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.of(0))))], false],
    ['true', [extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.of(255))))], true],
    [
      'true, marked critical',
      [sequence(objectId(BASIC_CONSTRAINTS), der(0x01, Buffer.of(255)), der(0x04, Buffer.from('30030101ff', 'hex')))],
      true,
    ],
    ['a length alone', [extension(BASIC_CONSTRAINTS, sequence(der(0x02, Buffer.of(0))))], false],
  ])('basic constraints, %s → authority as in the table', (_, extensions, claimsAuthority) => {
    expect(readCertificate(certificate({ extensions }))).toMatchObject({
      claimsAuthority,
      isAuthority: claimsAuthority,
    });
  });

  it('constraints of an authority whose key must not sign certificates → not an authority', () => {
    const signsContent = extension('551d0f', der(0x03, Buffer.of(7, 0x80)));
    const extensions = [extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.of(255)))), signsContent];
    expect(readCertificate(certificate({ extensions }))).toMatchObject({ claimsAuthority: true, isAuthority: false });
  });

  it('trailing bytes, or no bytes → throws', () => {
    for (const bytes of [Buffer.concat([certificate(), Buffer.of(0)]), Buffer.alloc(0)])
      expect(() => readCertificate(bytes)).toThrow();
  });

  it('signature algorithm differs from the declared one → not verified', () => {
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    expect(readCertificate(certificate({ signedAlgorithm: ECDSA_SHA384 })).isSignedBy(key)).toBe(false);
    expect(readCertificate(certificate({ algorithm: RSA })).isSignedBy(key)).toBe(false);
  });

  it('the PEM of another certificate inside → ignored', async () => {
    const { rootPem } = await DeviceVendor.create();
    for (const value of [rootPem, `\n${rootPem}\n`]) {
      const bytes = certificate({ extensions: [extension('2a0304', Buffer.from(value))] });
      expect(bytes.includes('-----BEGIN CERTIFICATE-----')).toBe(true);
      expect(() => expect(readCertificate(bytes).subject).toBe('CN=a')).not.toThrow(/Simulated/);
    }
  });
});

describe('findExtension (RFC 5280 4.1)', () => {
  const value = Buffer.from('value');

  it.each([
    ['one', [extension('2a0304', value)], value],
    ['one among others', [extension('2a0305', Buffer.from('other')), extension('2a0304', value)], value],
    ['none of this name', [extension('2a0305', value)], undefined],
    ['two', many(2, extension('2a0304', value)), undefined],
    ['one that is text', [sequence(objectId('2a0304'), der(0x0c, value))], undefined],
    ['none at all', [], undefined],
  ])('%s → result as in the table', (_, extensions, found) => {
    expect(findExtension(certificate({ extensions }), '2a0304')).toEqual(found);
  });

  it.each([0, 1, 40, 200])('a certificate truncated at byte %i → undefined', (bytes) => {
    expect(findExtension(certificate({ extensions: [extension('2a0304', value)] }).subarray(0, bytes), '2a0304')).toBe(
      undefined,
    );
  });
});

describe('the most expensive certificates that are read', () => {
  const ids = Array.from({ length: 790 }, (_id, at) => (0x2a030000 + (at >> 7) * 256 + (at & 127)).toString(16));

  it.each([
    ['names', { names: 332 }],
    ['alternative names', { extensions: [extension('551d11', sequence(...many(2_600, der(0x82, Buffer.from('a')))))] }],
    ['extensions', { extensions: ids.map((id) => extension(id, Buffer.alloc(0))) }],
  ])('the maximum number of %s, in both → verified within 50 ms', (_, written) => {
    const bytes = certificate(written);
    expect(bytes.length).toBeGreaterThan(MAX_BYTES * 0.9);
    expect(bytes.length).toBeLessThanOrEqual(MAX_BYTES);
    expect(readCertificate(bytes)).toBeDefined();
    expect(fastestMs(() => expect(() => requireChain(bytes, bytes, Date.now())).toThrow(GatewayError))).toBeLessThan(
      50,
    );
  });
});
