import { describe, expect, it } from '@jest/globals';
import { rawIssuer, rawServerConfig } from '../../test/support/apps/app-configs.js';
import { loadEnvironment } from '../platform/config/environment.js';
import { AppConfigParser } from './app-config-parser.js';

const parserTrusting = (hosts: string) => new AppConfigParser(loadEnvironment({ TRUSTED_PRIVATE_HOSTS: hosts }));

function withKeysAt(jwks_url: string) {
  const issuer = { ...rawIssuer(), jwks_url };
  return { ...rawServerConfig(), authentication: { type: 'api_key', end_user: { source: 'issuer', issuer } } };
}

describe('AppConfigParser', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1/keys'],
    ['127.0.0.1', 'http://127.0.0.1:9000/keys'],
    ['127.0.0.1:9000', 'http://127.0.0.1:9000/keys'],
    ['[::1]:9000', 'http://[::1]:9000/keys'],
    ['keys.internal', 'http://keys.internal/keys'],
  ])('key set over http: host trusted as %s → %s is accepted', (hosts, url) => {
    expect(() => parserTrusting(hosts).parse(withKeysAt(url))).not.toThrow();
  });

  it.each([
    ['', 'http://127.0.0.1/keys'],
    ['127.0.0.1:9000', 'http://127.0.0.1:9001/keys'],
    ['keys.internal', 'http://other.internal/keys'],
  ])('key set over http: trusted "%s" → %s is refused', (hosts, url) => {
    expect(() => parserTrusting(hosts).parse(withKeysAt(url))).toThrow(
      'config.authentication.end_user.issuer.jwks_url: must use https',
    );
  });

  it('read: stored configuration of an older grammar → the reason, instead of an error', () => {
    const stored = { ...rawServerConfig(), colour: 'blue' };
    expect(parserTrusting('').read(stored)).toEqual({
      config: undefined,
      configError: 'config.colour: is not a known field',
    });
  });

  it('read: stored configuration that parses → the configuration', () => {
    expect(parserTrusting('').read(rawServerConfig())).toMatchObject({
      config: { authentication: { type: 'api_key' } },
      configError: null,
    });
  });
});
