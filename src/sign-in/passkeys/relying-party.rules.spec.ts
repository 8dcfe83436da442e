import { describe, expect, it } from '@jest/globals';
import { relyingPartyOf } from './relying-party.rules.js';

describe('relyingPartyOf', () => {
  it.each([
    ['https://gateway.example.com', 'other.example.com', 'gateway.example.com', 'https://gateway.example.com'],
    ['https://gateway.example.com:8443', undefined, 'gateway.example.com', 'https://gateway.example.com:8443'],
    ['http://localhost:8080', 'localhost:9999', 'localhost', 'http://localhost:8080'],
    ['http://gw.localhost:8080', undefined, 'gw.localhost', 'http://gw.localhost:8080'],
    [undefined, 'localhost:8080', 'localhost', 'http://localhost:8080'],
    [undefined, 'LOCALHOST:8080', 'localhost', 'http://localhost:8080'],
  ])('PUBLIC_URL %s, host %s → %s at %s', (publicUrl, host, id, origin) => {
    expect(relyingPartyOf(publicUrl, host, 8080)).toEqual({ id, origin });
  });

  it.each([
    ['http://gateway.example.com', 'gateway.example.com'],
    ['http://127.0.0.1:8080', '127.0.0.1:8080'],
    ['https://192.0.2.7', '192.0.2.7'],
    ['https://[2001:db8::1]', '[2001:db8::1]'],
    ['http://notlocalhost:8080', 'notlocalhost:8080'],
    [undefined, '127.0.0.1:8080'],
    [undefined, 'localhost:9999'],
    [undefined, 'localhost.evil.example.com:8080'],
    [undefined, undefined],
  ])('PUBLIC_URL %s, host %s → none', (publicUrl, host) => {
    expect(relyingPartyOf(publicUrl, host, 8080)).toBeUndefined();
  });
});
