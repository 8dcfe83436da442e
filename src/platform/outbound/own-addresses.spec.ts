import { describe, expect, it } from '@jest/globals';
import { OwnAddresses } from './own-addresses.js';

describe('PUBLIC_URL', () => {
  const own = new OwnAddresses('https://gateway.example.com');

  it.each([
    ['https://gateway.example.com/', true],
    ['https://GATEWAY.example.com:443/v1/apps/a/proxy/p/', true],
    ['https://gateway.example.com./', true],
    ['https://gateway.example.com:8443/', false],
    ['https://other.example.com/', false],
    ['https://gateway.example.com.evil.example/', false],
  ])('%s → own: %p', (url, isOwn) => {
    expect(own.isNamedIn(new URL(url))).toBe(isOwn);
  });
});

describe('other instances', () => {
  const other = (isOnThisMachine: boolean, ...listensAt: string[]) => ({ isOnThisMachine, listensAt });

  it.each(['http://10.0.0.7:8080/', 'http://[fd00:0::7]:8080/', 'http://[::ffff:10.0.0.7]:8080/'])(
    '%s → own',
    (url) => {
      const own = new OwnAddresses(undefined);
      own.othersListenAt([other(false, '127.0.0.1:8080', '10.0.0.7:8080', '[fd00::7]:8080')]);
      expect(own.isNamedIn(new URL(url))).toBe(true);
      own.othersListenAt([]);
      expect(own.isNamedIn(new URL(url))).toBe(false);
    },
  );

  it('the loopback of another machine, another port → not own; the loopback of this machine → own', () => {
    const own = new OwnAddresses(undefined);
    own.othersListenAt([other(false, '127.0.0.1:8080', '[::1]:8080', '10.0.0.7:8080')]);
    for (const url of ['http://127.0.0.1:8080/', 'http://localhost:8080/', 'http://[::1]:8080/', 'http://10.0.0.7/'])
      expect([url, own.isNamedIn(new URL(url))]).toEqual([url, false]);
    own.othersListenAt([other(true, '127.0.0.1:8080')]);
    for (const url of ['http://127.0.0.1:8080/', 'http://localhost:8080/'])
      expect([url, own.isNamedIn(new URL(url))]).toEqual([url, true]);
  });

  it('announcements in an unknown format → ignored', () => {
    const own = new OwnAddresses(undefined);
    own.othersListenAt([other(true, '', ':8080', 'no address', 'a b:1')]);
    expect(own.isNamedIn(new URL('http://127.0.0.1:8080/'))).toBe(false);
  });
});

describe('the addresses that this process announces', () => {
  it.each([
    ['127.0.0.1', ['127.0.0.1:8080']],
    ['fd00::7', ['[fd00::7]:8080']],
  ])('bound to %s → %j', (address, announced) => {
    const own = new OwnAddresses(undefined);
    expect(own.announced).toEqual([]);
    own.listensAt({ address, port: 8080, family: 'any' });
    expect(own.announced).toEqual(announced);
  });
});

describe('the listener', () => {
  it.each(['http://127.0.0.1:8080/', 'http://127.1:8080/', 'http://LOCALHOST:8080/x/', 'https://0.0.0.0:8080/'])(
    '%s → own once the process listens there',
    (url) => {
      const own = new OwnAddresses(undefined);
      expect(own.isNamedIn(new URL(url))).toBe(false);
      own.listensAt({ address: '127.0.0.1', port: 8080, family: 'IPv4' });
      expect(own.isNamedIn(new URL(url))).toBe(true);
    },
  );

  it('in brackets, on the default port → own', () => {
    const own = new OwnAddresses(undefined);
    own.listensAt({ address: '::1', port: 80, family: 'IPv6' });
    expect(own.isNamedIn(new URL('http://[0::1]/'))).toBe(true);
    expect(own.isNamedIn(new URL('https://[::1]/'))).toBe(false);
  });

  it('a simulator on another port of the same host → not own', () => {
    const own = new OwnAddresses('http://127.0.0.1:8080');
    own.listensAt({ address: '127.0.0.1', port: 8080, family: 'IPv4' });
    expect(own.isNamedIn(new URL('http://127.0.0.1:9000/'))).toBe(false);
  });
});
