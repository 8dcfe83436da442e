import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fastestMs } from '../../../test/support/fastest-ms.js';
import { parseRange } from '../outbound/address.rules.js';
import { clientAddress } from './client-address.rules.js';

const PROXIES = ['10.0.0.0/8', '2001:db8:ffff::/48', '192.0.2.7'].map((text) => {
  const range = parseRange(text);
  if (range === undefined) throw new Error(text);
  return range;
});
const PROXY = '10.0.0.1';

/** Addresses outside of the trusted proxies. */
const ipv4 = fc.ipV4().filter((text) => !text.startsWith('10.') && text !== '192.0.2.7');
const port = fc.integer({ min: 0, max: 65_535 });
const proxy = fc.constantFrom('10.0.0.1', '10.255.255.255', '192.0.2.7', '2001:db8:ffff:9::1', '::ffff:10.1.1.1');

describe('client address', () => {
  it('no trusted proxy → the peer, whatever the header says', () => {
    fc.assert(
      fc.property(ipv4, fc.option(fc.oneof(fc.string(), fc.ipV4()), { nil: undefined }), (peer, header) => {
        expect(clientAddress(peer, header, PROXIES)).toBe(peer);
        expect(clientAddress(peer, header, [])).toBe(peer);
      }),
    );
  });

  it('behind any chain of trusted proxies → the nearest address that is not a trusted proxy; entries to its left are never read', () => {
    fc.assert(
      fc.property(fc.string(), ipv4, fc.array(proxy, { maxLength: 10 }), (forged, client, chain) => {
        const header = [forged, client, ...chain].join(', ');
        expect(clientAddress(PROXY, header, PROXIES)).toBe(client);
      }),
    );
  });

  it('the client’s entry with a port → the same client', () => {
    fc.assert(
      fc.property(ipv4, port, (client, number) => {
        expect(clientAddress(PROXY, `${client}:${number}`, PROXIES)).toBe(client);
      }),
    );
  });

  it('any header at all → an address, never an error', () => {
    const entry = fc.oneof(fc.string(), fc.ipV6(), ipv4, proxy, fc.constantFrom('', 'unknown', '_x', '[', '::1%eth0'));
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        expect(clientAddress(PROXY, entries.join(','), PROXIES)).toMatch(/^(?:\d+(?:\.\d+){3}|[0-9a-f:]+::\/64)$/);
      }),
    );
  });

  it.each([
    ['malformed next to the proxy', '198.51.100.9, unknown', PROXY],
    ['malformed behind a second proxy', '198.51.100.9, nonsense, 10.0.0.2', '10.0.0.2'],
    ['an empty entry', '198.51.100.9,', PROXY],
    ['an empty header', '', PROXY],
    ['a name', 'client.example.com', PROXY],
    ['an address in quotes', '"198.51.100.9"', PROXY],
    ['an octal spelling', '0306.51.100.9', PROXY],
    ['a number above 255', '198.51.100.256', PROXY],
    ['a zone at IPv4', '198.51.100.9%eth0', PROXY],
    ['brackets around IPv4 and a port', '[198.51.100.9]:80', '198.51.100.9'],
    ['nothing but proxies', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['blanks and tabs', ' \t198.51.100.9 \t', '198.51.100.9'],
    ['a mapped client', '::ffff:198.51.100.9', '198.51.100.9'],
    ['a mapped client in hexadecimal, with a port', '[::ffff:c633:6409]:443', '198.51.100.9'],
    ['a mapped proxy', '198.51.100.9, ::ffff:10.9.9.9', '198.51.100.9'],
    ['an IPv6 client', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['an IPv6 client with brackets and port', '[2001:DB8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['an IPv6 client with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['an IPv6 proxy', '198.51.100.9, 2001:db8:ffff::1', '198.51.100.9'],
  ])('%s: "%s" → %s', (_name, header, expected) => {
    expect(clientAddress(PROXY, header, PROXIES)).toBe(expected);
  });

  it.each([
    [undefined, 'local'],
    ['', 'local'],
    ['::ffff:198.51.100.9', '198.51.100.9'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('peer %s → %s', (peer, expected) => {
    expect(clientAddress(peer, '203.0.113.1', PROXIES)).toBe(expected);
  });

  it('a peer without an address, and a header → the header is ignored', () => {
    expect(clientAddress(undefined, '198.51.100.9', PROXIES)).toBe('local');
  });
});

describe('client address: what counts as the same client', () => {
  const group = fc.integer({ min: 0, max: 0xffff }).map((number) => number.toString(16));
  // Outside of ::/16, which contains the mapped addresses, and outside of the trusted proxies.
  const network = fc.tuple(fc.constantFrom('2400', '2a00', 'fd00'), group, group, group);
  const host = fc.tuple(group, group, group, group);

  it('two addresses of one /64 → the same; of two → different', () => {
    fc.assert(
      fc.property(network, network, host, host, (one, other, first, second) => {
        const counted = (groups: string[], rest: string[]) => clientAddress([...groups, ...rest].join(':'), '', []);
        expect(counted(one, first)).toBe(counted(one, second));
        expect(counted(one, first) === counted(other, first)).toBe(one.join() === other.join());
      }),
    );
  });

  it('IPv4 and its mapped spelling → the same; two IPv4 addresses → different', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), (one, other) => {
        expect(clientAddress(`::ffff:${one}`, '', [])).toBe(clientAddress(one, '', []));
        expect(clientAddress(one, '', []) === clientAddress(other, '', [])).toBe(one === other);
      }),
    );
  });
});

describe('client address: bounded work', () => {
  it('a header of 32 KiB of trusted proxies → 32 of them are read, not the client far left', () => {
    const chain = Array.from({ length: 3_000 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
    const header = ['198.51.100.9', ...chain].join(',');
    expect(clientAddress(PROXY, header, PROXIES)).toBe(chain.at(-32));
    const run = () => {
      for (let round = 0; round < 100; round++) clientAddress(PROXY, header, PROXIES);
    };
    expect(fastestMs(run) / 100).toBeLessThan(5);
  });

  it.each(['1', ':', '[', '[1', '1.', ' ', '%', ':%'])(
    '32 KiB of "%s" in one entry → quickly refused as malformed',
    (text) => {
      const run = () => {
        expect(clientAddress(PROXY, text.repeat(32 * 1024), PROXIES)).toBe(PROXY);
      };
      expect(fastestMs(run)).toBeLessThan(50);
    },
  );
});
