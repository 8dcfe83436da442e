import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { isMetadataAddress, isMetadataHost, isPublicAddress, parseRange } from './address.rules.js';

describe('isPublicAddress', () => {
  it.each(['8.8.8.8', '1.1.1.1', '100.63.255.255', '100.128.0.0', '172.15.255.255', '172.32.0.0', '2606:4700::1111'])(
    '%s → public',
    (ip) => expect(isPublicAddress(ip)).toBe(true),
  );

  it.each([
    ['unspecified', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['loopback', '127.255.0.1'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['carrier-grade NAT', '100.127.255.255'],
    ['link-local', '169.254.1.1'],
    ['protocol assignments', '192.0.0.8'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['benchmarking', '198.19.255.255'],
    ['6to4 relay', '192.88.99.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['a cloud metadata address in public space', '168.63.129.16'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['IPv4-compatible', '::7f00:1'],
    ['IPv4-mapped private', '::ffff:10.0.0.1'],
    ['IPv4-mapped public', '::ffff:8.8.8.8'],
    ['IPv4-mapped in hexadecimal', '::ffff:7f00:1'],
    ['IPv4-translated', '::ffff:0:8.8.8.8'],
    ['NAT64', '64:ff9b::8.8.8.8'],
    ['local NAT64', '64:ff9b:1::1'],
    ['6to4', '2002:0808:0808::1'],
    ['Teredo', '2001:0:4136:e378::1'],
    ['benchmarking', '2001:2::1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['unique local', 'fd12:3456::1'],
    ['link-local', 'fe80::1'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['discard', '100::1'],
    ['unassigned', '4000::1'],
    ['a zone', '2606:4700::1111%eth0'],
  ])('%s %s → not public', (_kind, ip) => expect(isPublicAddress(ip)).toBe(false));

  it.each([
    '',
    'localhost',
    '8.8.8',
    '0x8.8.8.8',
    '134744072',
    '08.8.8.8',
    '[2606:4700::1111]',
    '8.8.8.8 ',
    '8.8.8.8/32',
  ])('text that is not a plain address: "%s" → not public', (text) => expect(isPublicAddress(text)).toBe(false));

  it('any IPv4 inside any IPv6 form → not public', () => {
    fc.assert(
      fc.property(
        fc.ipV4(),
        fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'),
        (v4, prefix) => {
          expect(isPublicAddress(prefix + v4)).toBe(false);
        },
      ),
    );
  });

  it('arbitrary text → a decision, never an error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4Extended(), fc.ipV6()), (text) => {
        expect(typeof isPublicAddress(text)).toBe('boolean');
        expect(isPublicAddress(text) && isMetadataAddress(text)).toBe(false);
      }),
      { numRuns: fuzzRuns(1_000) },
    );
  });
});

describe('isMetadataAddress', () => {
  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '169.254.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:0ec2:0:0:0:0:0:254',
    'fd20:ce::254',
    'fd00:c1::a9fe:a9fe',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::',
    // Teredo: the client's address with its bits inverted.
    '2001:0:4136:e378:8000:63bf:5601:5601',
  ])('%s → metadata', (ip) => expect(isMetadataAddress(ip)).toBe(true));

  it.each(['169.253.255.255', '169.255.0.0', '100.100.100.201', '10.0.0.1', '8.8.8.8', 'fd00:ec3::254', '::1', 'x'])(
    '%s → not metadata',
    (ip) => expect(isMetadataAddress(ip)).toBe(false),
  );
});

describe('parseRange', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['192.0.2.7', '192.0.2.7/32'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['::1', '::1/128'],
    ['::ffff:192.0.2.7', '192.0.2.7/32'],
  ])('%s → %s', (text, expected) => {
    const [address, bits] = parseRange(text) ?? [];
    expect(`${address}/${bits}`).toBe(expected);
  });

  it.each([
    '',
    '/',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.1/8',
    '10.0.0.0/-1',
    '10/8',
    '::ffff:10.0.0.0/104',
    '::1%eth0',
    'a/8',
  ])('"%s" → no range', (text) => expect(parseRange(text)).toBeUndefined());
});

const hostOf = (url: string) => new URL(url).hostname;

describe('isMetadataHost', () => {
  it.each([
    'http://169.254.169.254',
    'http://169.254.169.254.',
    'http://2852039166',
    'http://0xa9fea9fe',
    'http://0xA9.0xFE.0xA9.0xFE',
    'http://0251.0376.0251.0376',
    'http://169.254.43518',
    'http://169.16689662',
    'http://0xa9.254.0251.254',
    'http://１６９.２５４.１６９.２５４',
    'http://169。254。169。254',
    'http://%31%36%39.254.169.254',
    'http://ⓘnstance-data',
    'http://user:password@169.254.169.254',
    'http://api.example.com@169.254.169.254',
    'http://169.254.169.254:8080',
    'http://169.254.170.2',
    'http://[::ffff:169.254.169.254]',
    'http://[::ffff:a9fe:a9fe]',
    'http://[0:0:0:0:0:ffff:a9fe:a9fe]',
    'http://[::169.254.169.254]',
    'http://[64:ff9b::169.254.169.254]',
    'http://[64:ff9b:1::a9fe:a9fe]',
    'http://[64:ff9b:1:a9fe:a9:fe00::]',
    'http://[64:ff9b:1:a9:fe:a9fe::]',
    'http://[64:ff9b:1:0:a9:fea9:fe00:0]',
    'http://[2002:a9fe:a9fe::1]',
    'http://[2001:db8::5efe:a9fe:a9fe]',
    'http://[fe80::200:5efe:a9fe:a9fe]',
    'http://[fd00:ec2::254]',
    'http://[FD00:0EC2:0000::0254]',
    'http://[fd20:ce::254]',
    'http://[fd00:42::42]',
    'http://[fd00:a9fe:a9fe::1]',
    'http://100.100.100.200',
    'http://0x646464c8',
    'http://192.0.0.192',
    'http://168.63.129.16',
    'http://metadata.google.internal',
    'http://metadata.google.internal.',
    'http://METADATA.Google.Internal',
    'http://metadata%2egoogle.internal',
    'http://metadata。google。internal',
    'http://metadata',
    'http://instance-data',
    'http://instance-data.ec2.internal.',
    'http://metadata.azure.internal',
    'http://metadata.tencentyun.com',
  ])('%s → metadata', (url) => expect(isMetadataHost(hostOf(url))).toBe(true));

  it.each([
    'http://169.253.255.255',
    'http://100.100.100.201',
    'http://10.0.0.1',
    'http://localhost',
    'http://[::1]',
    'http://[fd00::1]',
    'http://[64:ff9b:1::a00:1]',
    'http://metadata.example.com',
    'http://my-metadata.google.internal',
    'http://google.internal',
    'http://api.openai.com',
  ])('%s → not', (url) => expect(isMetadataHost(hostOf(url))).toBe(false));

  it('any text → a decision, never an error', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => typeof isMetadataHost(text) === 'boolean'));
  });
});
