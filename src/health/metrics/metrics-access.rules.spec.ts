import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../common/log/secret.js';
import { carriesToken, isLocalRequest } from './metrics-access.rules.js';

describe('isLocalRequest', () => {
  it.each(['127.0.0.1', '127.9.8.7', '::1', '::ffff:127.0.0.1', '0:0:0:0:0:0:0:1'])('%s → local', (peer) => {
    expect(isLocalRequest(peer, { host: 'gateway', authorization: 'Bearer x' })).toBe(true);
  });

  it.each([
    undefined,
    '',
    '10.0.0.1',
    '192.168.1.1',
    '203.0.113.7',
    '::',
    '0.0.0.0',
    '::ffff:10.0.0.1',
    'fe80::1',
    'x',
  ])('%s → not local', (peer) => {
    expect(isLocalRequest(peer, {})).toBe(false);
  });

  it.each(['x-forwarded-for', 'x-forwarded-host', 'x-forwarded', 'x-real-ip', 'forwarded', 'via'])(
    'a loopback peer that sends %s → a proxy: not local',
    (name) => {
      expect(isLocalRequest('127.0.0.1', { [name]: '127.0.0.1' })).toBe(false);
    },
  );

  it('a remote peer that claims to be local → not local', () => {
    expect(isLocalRequest('203.0.113.7', { 'x-forwarded-for': '127.0.0.1', host: 'localhost' })).toBe(false);
  });
});

describe('carriesToken', () => {
  const token = new Secret('a-token-of-the-tests');

  it.each(['Bearer a-token-of-the-tests', 'bearer  a-token-of-the-tests'])('%s → yes', (header) => {
    expect(carriesToken(header, token)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'a-token-of-the-tests',
    'Basic a-token-of-the-tests',
    'Bearer a-token-of-the-test',
    'Bearer a-token-of-the-tests2',
    'Bearer a-token-of-the-tests, Bearer x',
    'Bearer A-TOKEN-OF-THE-TESTS',
  ])('%s → no', (header) => {
    expect(carriesToken(header, token)).toBe(false);
  });
});
