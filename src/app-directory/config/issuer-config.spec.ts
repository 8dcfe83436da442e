import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type RawObject, rawIssuer } from '../../../test/support/apps/app-configs.js';
import { objectOf } from '../../common/fields/config-fields.js';
import { IssuerConfig } from './issuer-config.js';

const issuerConfig = objectOf(IssuerConfig);

const read = (changes: RawObject, httpHosts: readonly string[] = []) =>
  issuerConfig({ ...rawIssuer(), ...changes }, 'i', { allowsHttp: (host) => httpHosts.includes(host) });

describe('issuer: jwks_url', () => {
  it.each([
    ['https://ID.Example.com/keys', 'https://id.example.com/keys'],
    [' https://id.example.com ', 'https://id.example.com/'],
    ['https://id.example.com:443/a/../keys', 'https://id.example.com/keys'],
    ['HTTPS://id.example.com:8443/keys?v=2', 'https://id.example.com:8443/keys?v=2'],
    ['https://keys.example.com/jwk/a@system.example.com', 'https://keys.example.com/jwk/a@system.example.com'],
  ])('%s → stored as %s', (sent, stored) => {
    expect(read({ jwks_url: sent }).jwks_url).toBe(stored);
  });

  it.each([
    ['http://id.example.com/keys', 'must use https'],
    ['ftp://id.example.com/keys', 'must use https'],
    ['javascript:alert(1)', 'must be an absolute https URL'],
    ['/keys', 'must be an absolute https URL'],
    ['id.example.com/keys', 'must be an absolute https URL'],
    ['https://', 'must be an absolute https URL'],
    ['https://user@id.example.com/', 'must not hold credentials'],
    ['https://:pass@id.example.com/', 'must not hold credentials'],
    ['https://id.example.com/#keys', 'must not have a fragment'],
    ['https://id.example.com/#', 'must not have a fragment'],
    ['https://id.exa\nmple.com/', 'must be an absolute https URL'],
    ['https:\\\\id.example.com', 'must be an absolute https URL'],
    [`https://id.example.com/${'a'.repeat(2048)}`, 'must have at most 2048 characters'],
    [`https://id.example.com/${'"'.repeat(700)}`, 'must have at most 2048 characters'],
  ])('%j → refused: %s', (sent, problem) => {
    expect(() => read({ jwks_url: sent })).toThrow(`i.jwks_url: ${problem}`);
  });

  it('http: only for hosts the operator trusts', () => {
    expect(read({ jwks_url: 'http://LOCALHOST:9000/k' }, ['localhost:9000']).jwks_url).toBe('http://localhost:9000/k');
    expect(read({ jwks_url: 'http://[::1]/k' }, ['[::1]']).jwks_url).toBe('http://[::1]/k');
    expect(() => read({ jwks_url: 'http://localhost.example/k' }, ['localhost'])).toThrow('must use https');
  });

  it.each([
    'https://169.254.169.254/keys',
    'http://0xa9fea9fe/keys',
    'https://[::ffff:169.254.169.254]/keys',
    'https://metadata.google.internal./keys',
    'https://metadata%2Egoogle.internal/keys',
    'http://user@100.100.100.200/keys',
  ])('%s → refused as a metadata address, trusted or not', (jwks_url) => {
    expect(() => issuerConfig({ ...rawIssuer(), jwks_url }, 'i', { allowsHttp: () => true })).toThrow(
      'i.jwks_url: must not be a cloud metadata address',
    );
  });

  it('any address that is accepted → canonical, so accepted again unchanged', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }), (url) => {
        const stored = read({ jwks_url: url }).jwks_url;
        expect(read({ jwks_url: stored }).jwks_url).toBe(stored);
      }),
    );
  });
});

describe('issuer: placeholders', () => {
  const PROBLEM = 'must not have braces: put your own value in place of the placeholder';

  it.each([
    'https://{ref}.supabase.co/auth/v1/.well-known/jwks.json',
    'https://id.example.com/{tenant}/keys',
    'https://id.example.com/%7Btenant%7D/keys',
    'https://%7bref%7D.example.com/',
    'https://id.example.com/keys?tenant={tenant}',
    'https://id.example.com/}',
  ])('jwks_url %s → refused, unless it was stored before', (jwks_url) => {
    expect(() => read({ jwks_url })).toThrow(`i.jwks_url: ${PROBLEM}`);
    const stored = { allowsHttp: () => false, isStored: true } as const;
    expect(issuerConfig({ ...rawIssuer(), jwks_url }, 'i', stored).jwks_url).toMatch(/^https:/);
  });

  it.each([
    [{ issuer: 'https://{ref}.supabase.co/auth/v1' }, 'i.issuer'],
    [{ issuer: ['https://id.example.com', 'https://%7Bdomain%7D/'] }, 'i.issuer.1'],
    [{ audience: '{project}' }, 'i.audience'],
    [{ audience: ['mine', '{audience}'] }, 'i.audience.1'],
  ])('%j → refused at %s', (changes, path) => {
    expect(() => read(changes)).toThrow(`${path}: ${PROBLEM}`);
  });
});

describe('issuer: values', () => {
  it('issuer with a trailing slash → kept', () => {
    expect(read({ issuer: 'https://tenant.example.com/' }).issuer).toEqual(['https://tenant.example.com/']);
  });

  it('no optional members → none appear', () => {
    const { token_header: _1, provider: _2, entitlement: _3, ...least } = rawIssuer();
    const parsed = issuerConfig(least, 'i');
    expect(Object.keys(parsed).sort()).toEqual(Object.keys(least).sort());
  });

  it.each([
    [{ issuer: undefined }, 'i.issuer: is required'],
    [{ issuer: [] }, 'i.issuer: must have at least 1 entry'],
    [{ issuer: ['a', ' '] }, 'i.issuer.1: must not be blank'],
    [{ audience: undefined }, 'i.audience: is required'],
    [{ audience: '' }, 'i.audience: must not be blank'],
    [{ user_id_claim: ' ' }, 'i.user_id_claim: must not be blank'],
    [{ user_id_claim: [] }, 'i.user_id_claim: must have at least 1 entry'],
    [{ user_id_claim: ['a', ' '] }, 'i.user_id_claim.1: must not be blank'],
    [{ user_id_claim: ['a', null] }, 'i.user_id_claim.1: must be text'],
    [{ required_claims: undefined }, 'i.required_claims: is required'],
    [{ max_token_lifetime_seconds: 0 }, 'i.max_token_lifetime_seconds: must be at least 1'],
    [{ max_token_lifetime_seconds: '60' }, 'i.max_token_lifetime_seconds: must be an integer'],
    [{ max_token_lifetime_seconds: undefined }, 'i.max_token_lifetime_seconds: is required'],
    [{ token_header: 'Host' }, 'i.token_header: must not be host'],
    [{ token_header: 'a b' }, 'i.token_header: must be a header name'],
    [{ provider: 'somebody' }, 'i.provider: must be "'],
    [{ entitlement: '' }, 'i.entitlement: must be "'],
    [{ jwks: {} }, 'i.jwks: is not a known field'],
  ])('%j → %s', (changes, message) => {
    expect(() => read(changes)).toThrow(message);
  });
});

describe('issuer: required_claims', () => {
  const claims = (...required_claims: unknown[]) => read({ required_claims }).required_claims;

  it.each([
    [
      { path: ' plan ', equals: ' pro ' },
      { path: 'plan', equals: 'pro' },
    ],
    [
      { path: 'level', equals: 0 },
      { path: 'level', equals: 0 },
    ],
    [
      { path: 'paid', equals: false },
      { path: 'paid', equals: false },
    ],
    [
      { path: 'e', contains: 'pro' },
      { path: 'e', contains: 'pro' },
    ],
    [
      { path: ['https://example.com/claims', ' plan '], equals: 'pro' },
      { path: ['https://example.com/claims', 'plan'], equals: 'pro' },
    ],
    [
      { path: ['e'], contains: 'pro' },
      { path: ['e'], contains: 'pro' },
    ],
    [
      { path: 'e', contains: ['pro', ' team'] },
      { path: 'e', contains: ['pro', 'team'] },
    ],
  ])('%j → %j', (sent, parsed) => {
    expect(claims(sent)).toEqual([parsed]);
  });

  it.each([
    [{ path: 'e' }, 'i.required_claims.0: must have exactly one of'],
    [{ path: 'e', contains: 'a', equals: 'a' }, 'i.required_claims.0: must have exactly one of'],
    [{ contains: 'a' }, 'i.required_claims.0.path: is required'],
    [{ path: [], contains: 'a' }, 'i.required_claims.0.path: must have at least 1 entry'],
    [{ path: ['e', ''], contains: 'a' }, 'i.required_claims.0.path.1: must not be blank'],
    [{ path: ['e', 7], equals: 'a' }, 'i.required_claims.0.path.1: must be text'],
    [{ path: [['e']], equals: 'a' }, 'i.required_claims.0.path.0: must be text'],
    [{ path: ['e\u0000'], equals: 'a' }, 'i.required_claims.0.path.0: must not have NUL or broken characters'],
    [{ path: Array(21).fill('e'), equals: 'a' }, 'i.required_claims.0.path: must have at most 20 entries'],
    [{ path: ['e'.repeat(1_001)], equals: 'a' }, 'i.required_claims.0.path.0: must have at most 1000 characters'],
    [{ path: { e: 1 }, equals: 'a' }, 'i.required_claims.0.path: must be text'],
    [{ path: 'e', contains: [] }, 'i.required_claims.0.contains: must have at least 1 entry'],
    [{ path: 'e', contains: ['a', ''] }, 'i.required_claims.0.contains.1: must not be blank'],
    [{ path: 'e', contains: 1 }, 'i.required_claims.0.contains: must be text'],
    [{ path: 'e', equals: null }, 'i.required_claims.0.equals: must be text, a number or a boolean'],
    [{ path: 'e', equals: ['a'] }, 'i.required_claims.0.equals: must be text, a number or a boolean'],
    [{ path: 'e', equals: ' ' }, 'i.required_claims.0.equals: must not be blank'],
    [{ path: 'e', equals: 'a', any: true }, 'i.required_claims.0.any: is not a known field'],
  ])('%j → %s', (sent, message) => {
    expect(() => claims(sent)).toThrow(message);
  });
});
