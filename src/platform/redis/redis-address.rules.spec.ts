import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseRedisAddress, requireRedisAddress } from './redis-address.rules.js';

const NOBODY = { username: '', password: '' };

describe('addresses of Redis', () => {
  it('one server → host, port, database, credentials, TLS', () => {
    expect(parseRedisAddress('redis://cache.internal')).toEqual({
      kind: 'single',
      tls: false,
      hosts: [{ host: 'cache.internal', port: 6379 }],
      credentials: NOBODY,
      database: 0,
    });
    expect(parseRedisAddress(' REDISS://app:p%2Fw%40@[::1]:6380/2 ')).toEqual({
      kind: 'single',
      tls: true,
      hosts: [{ host: '::1', port: 6380 }],
      credentials: { username: 'app', password: 'p/w@' },
      database: 2,
    });
  });

  it('sentinels → their hosts, the name of the master, credentials of both', () => {
    expect(parseRedisAddress('redis+sentinel://a,b:5000/3?name=main')).toEqual({
      kind: 'sentinel',
      tls: false,
      hosts: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 5000 },
      ],
      credentials: NOBODY,
      database: 3,
      name: 'main',
      sentinelCredentials: NOBODY,
    });
    const address = 'rediss+sentinel://u:p@a?name=main&sentinelUsername=su&sentinelPassword=s%26p';
    expect(parseRedisAddress(address)).toMatchObject({
      tls: true,
      credentials: { username: 'u', password: 'p' },
      sentinelCredentials: { username: 'su', password: 's&p' },
    });
  });

  it('a cluster → its hosts', () => {
    expect(parseRedisAddress('rediss+cluster://:p@a:7000,[::1]:7001/')).toEqual({
      kind: 'cluster',
      tls: true,
      hosts: [
        { host: 'a', port: 7000 },
        { host: '::1', port: 7001 },
      ],
      credentials: { username: '', password: 'p' },
    });
  });

  it.each([
    'cache.internal:6379',
    'https://cache.internal',
    'redis://',
    'redis:///0',
    'redis://private/name',
    'redis://private?tls=false',
    'redis://private/0#1',
    'redis://:%zz@private',
    'redis://private:0',
    'redis://private:65536',
    'redis://a,b',
    'redis://a@b@private',
    'redis-sentinel://private',
    'redis+sentinel://a',
    'redis+sentinel://a?name=',
    'redis+sentinel://a?name=m&name=n',
    'redis+sentinel://a?name=m&tls=false',
    'redis+sentinel://a,?name=m',
    'redis+cluster://a/1',
    'redis+cluster://a?name=m',
    'redis+cluster://a,,b',
    'redis+cluster://a b',
  ])('"%s" → refused', (text) => {
    expect(parseRedisAddress(text)).toBeUndefined();
  });

  it('refused → error without the text', () => {
    expect(() => requireRedisAddress('redis://:private@')).toThrow('the address of Redis is not redis[s]://');
    expect(() => requireRedisAddress('redis://:private@')).not.toThrow('private');
  });

  it('any credentials, encoded → survive a round trip', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (username, password) => {
        const address = `redis+cluster://${encodeURIComponent(username)}:${encodeURIComponent(password)}@a`;
        expect(parseRedisAddress(address)?.credentials).toEqual({ username, password });
      }),
    );
  });
});
