import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { isMetadataHost } from './address.rules.js';
import { parseTrustedHosts } from './trusted-hosts.rules.js';

const trusted = parseTrustedHosts(
  'vault.internal, LLM.Corp:8443\n10.1.0.0/16 192.168.7.9 , 192.168.7.10:9000 fd12::/16 [fd99::1]:8080 kms:443',
);

describe('TrustedHosts.allowsHost', () => {
  it.each([
    'vault.internal',
    'VAULT.internal:1234',
    'llm.corp:8443',
    '10.1.2.3',
    '10.1.2.3:80',
    '192.168.7.9',
    '192.168.7.10:9000',
    'fd12::1',
    '[fd12::1]',
    '[fd12::1]:99',
    '[fd99::1]:8080',
    '::ffff:10.1.2.3',
    'kms',
    'kms:443',
  ])('%s → allowed', (host) => expect(trusted.allowsHost(host)).toBe(true));

  it.each([
    'internal',
    'a.vault.internal',
    'vault.internal.example.com',
    'vault.internal.',
    'llm.corp',
    'llm.corp:443',
    'llm.corp:84430',
    '10.2.0.1',
    '192.168.7.10',
    '192.168.7.10:9001',
    '[fd99::1]',
    'fd13::1',
    'kms:8443',
    'vault.internal:99999',
    '',
  ])('%s → not allowed', (host) => expect(trusted.allowsHost(host)).toBe(false));
});

describe('TrustedHosts.allowsAddress', () => {
  it.each([
    ['any.example.com', '10.1.255.255'],
    ['any.example.com:1', '192.168.7.9'],
    ['any.example.com', '::ffff:10.1.0.1'],
    ['vault.internal', '172.16.0.1'],
    ['any.example.com:9000', '192.168.7.10'],
    ['any.example.com', 'fd12:ffff::1'],
  ])('%s at %s → allowed', (host, ip) => expect(trusted.allowsAddress(host, ip)).toBe(true));

  it.each([
    ['any.example.com', '10.2.0.1'],
    ['any.example.com', '192.168.7.10'],
    ['any.example.com:9001', '192.168.7.10'],
    ['llm.corp', '172.16.0.1'],
    ['any.example.com', 'not-an-address'],
  ])('%s at %s → not allowed', (host, ip) => expect(trusted.allowsAddress(host, ip)).toBe(false));
});

describe('metadata hosts trusted by mistake', () => {
  const LIST =
    '169.254.169.254, metadata.google.internal:80, 169.254.0.0/16, 0.0.0.0/0, ::/0, [fd00:ec2::254]:80, 10.0.0.1';
  const mistaken = parseTrustedHosts(LIST);

  it.each(['169.254.169.254', '169.254.169.254:80', 'metadata.google.internal', '[fd00:ec2::254]', '100.100.100.200'])(
    '%s → not allowed, as host or address',
    (host) => {
      expect(mistaken.allowsHost(host)).toBe(false);
      expect(mistaken.allowsAddress(host, '10.0.0.1')).toBe(false);
      expect(mistaken.allowsAddress('models.corp', host)).toBe(false);
    },
  );

  it('everything else on the list → allowed', () => {
    expect(mistaken.allowsHost('10.0.0.1')).toBe(true);
    expect(mistaken.allowsAddress('models.corp', '169.253.0.1')).toBe(true);
  });

  it('entries without effect → reported as written; larger networks are not reported', () => {
    expect(mistaken.metadataEntries).toEqual([
      '169.254.169.254',
      'metadata.google.internal:80',
      '169.254.0.0/16',
      '[fd00:ec2::254]:80',
    ]);
    expect(parseTrustedHosts('169.254.1.0/24 ::ffff:169.254.169.254 168.63.129.16/32').metadataEntries).toHaveLength(3);
    expect(parseTrustedHosts('localhost, 10.0.0.0/8, 169.0.0.0/8, fd00::/8').metadataEntries).toEqual([]);
  });
});

describe('parseTrustedHosts', () => {
  it('empty list → nothing is trusted', () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6()), (host) => {
        expect(parseTrustedHosts(' ,\n').allowsHost(host)).toBe(false);
        expect(parseTrustedHosts('').allowsAddress(host, host)).toBe(false);
      }),
    );
  });

  it.each([
    'http://host',
    'host/path',
    '*.corp',
    'host.',
    '.host',
    '-host',
    'hö.example',
    'host:0',
    'host:65536',
    'host:',
    'user@host',
    '0x7f.1',
    '127.1',
    '2130706433',
    '256.1.1.1',
    '10.0.0.0/33',
    '10.0.0.0/x',
    '10.0.0/8',
    '10.1.2.3/8',
    'fd12::1/16',
    '::ffff:10.0.0.0/104',
    '[::1',
    '[10.0.0.1]',
    'fe80::1%eth0',
    `${'a.'.repeat(127)}bc`,
  ])('bad entry "%s" → an error that names it', (entry) => {
    expect(() => parseTrustedHosts(`good.host, ${entry}`)).toThrow(`"${entry}"`);
  });

  it('any name or address → parses and matches itself, unless it is a metadata host', () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6()), (host) => {
        expect(parseTrustedHosts(host).allowsHost(host)).toBe(!isMetadataHost(host));
      }),
    );
  });

  it('arbitrary text → parses or names an entry, never another error', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          parseTrustedHosts(text);
        } catch (error) {
          expect(String(error)).toMatch(/^Error: trusted hosts: /);
        }
      }),
      { numRuns: fuzzRuns(1_000) },
    );
  });
});
