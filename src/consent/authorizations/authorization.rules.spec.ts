import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  audienceOf,
  fitsChallenge,
  grantOf,
  readAuthorizationRequest,
  redirectTo,
  SingleParameters,
} from './authorization.rules.js';

const ISSUER = 'https://gateway.example.com';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
/** The example of RFC 7636, appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

function read(members: Readonly<Record<string, string | undefined>> = {}) {
  const all = {
    ...{ response_type: 'code', code_challenge: CHALLENGE, code_challenge_method: 'S256', resource: ISSUER },
    ...members,
  };
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const parameters = SingleParameters.of(new URLSearchParams(sent));
  if ('repeated' in parameters) throw new Error(`${parameters.repeated} is repeated`);
  return readAuthorizationRequest(parameters, ISSUER);
}

describe('readAuthorizationRequest', () => {
  it('minimal request → all scopes are requested', () => {
    expect(read()).toEqual({ audience: 'api', grant: 'manage', codeChallenge: CHALLENGE, state: null });
  });

  it('a state of 2048 printable characters, a scope, the endpoint → unchanged', () => {
    const state = `~ "<'${'s'.repeat(2_043)}`;
    expect(read({ state, scope: 'read', resource: `${ISSUER}/mcp` })).toMatchObject({
      ...{ audience: 'mcp', grant: 'read', state },
    });
  });

  it.each([
    ['no response_type', { response_type: undefined }, 'invalid_request'],
    ['an empty response_type counts as absent', { response_type: '' }, 'invalid_request'],
    ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no method, which means plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['a short challenge', { code_challenge: CHALLENGE.slice(1) }, 'invalid_request'],
    ['a challenge in base64', { code_challenge: `${CHALLENGE.slice(1)}+` }, 'invalid_request'],
    ['a state of 2049 characters', { state: 's'.repeat(2_049) }, 'invalid_request'],
    ['a state beyond ASCII', { state: 'zustand-ä' }, 'invalid_request'],
    ['a state with a zero byte', { state: 'a\0b' }, 'invalid_request'],
    ['no resource', { resource: undefined }, 'invalid_target'],
    ['a foreign resource', { resource: 'https://elsewhere.example' }, 'invalid_target'],
    ['another path of ours', { resource: `${ISSUER}/v1` }, 'invalid_target'],
    ['an unknown scope', { scope: 'all' }, 'invalid_scope'],
    ['a known scope beside an unknown one', { scope: 'read offline_access' }, 'invalid_scope'],
    ['two blanks between scopes', { scope: 'read  manage' }, 'invalid_scope'],
  ])('%s → %3$s', (_name, members, error) => {
    expect(read(members)).toEqual({ error, description: expect.any(String) });
  });

  it('any query → a request, an error, or the name of a repeated parameter', () => {
    const name = fc.constantFrom('response_type', 'state', 'scope', 'resource', 'code_challenge', 'x');
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('code', 'read', ISSUER, CHALLENGE));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 8 }), (entries) => {
        const parameters = SingleParameters.of(new URLSearchParams(entries));
        if ('repeated' in parameters) {
          expect(entries.filter(([sent]) => sent === parameters.repeated).length).toBeGreaterThan(1);
          return;
        }
        const request = readAuthorizationRequest(parameters, ISSUER);
        if (!('error' in request)) expect(request.codeChallenge).toBe(CHALLENGE);
      }),
    );
  });
});

describe('scopes and resources', () => {
  it.each([
    [undefined, 'manage'],
    ['read', 'read'],
    ['manage', 'manage'],
    ['read manage', 'manage'],
    ['manage read', 'manage'],
    ['Read', undefined],
    ['', undefined],
  ])('scope %s → %s', (scope, grant) => {
    expect(grantOf(scope)).toBe(grant);
  });

  it.each([
    [ISSUER, 'api'],
    [`${ISSUER}/`, 'api'],
    [`${ISSUER}/mcp`, 'mcp'],
    [`${ISSUER}/mcp/`, undefined],
    [`${ISSUER}.evil.example`, undefined],
    [ISSUER.toUpperCase(), undefined],
  ])('resource %s → %s', (resource, audience) => {
    expect(audienceOf(resource, ISSUER)).toBe(audience);
  });
});

describe('fitsChallenge', () => {
  it('the example of RFC 7636, appendix B → matches; any other verifier → does not', () => {
    expect(fitsChallenge(VERIFIER, CHALLENGE)).toBe(true);
    expect(fitsChallenge(`${VERIFIER}x`, CHALLENGE)).toBe(false);
    expect(fitsChallenge(CHALLENGE, CHALLENGE)).toBe(false);
  });

  it.each([42, 129])('a verifier of %i characters → does not match', (length) => {
    expect(fitsChallenge('v'.repeat(length), CHALLENGE)).toBe(false);
  });
});

it.each([
  ['https://a.example/c', 'https://a.example/c?code=x+y&iss=z'],
  ['https://a.example/c?d=e', 'https://a.example/c?d=e&code=x+y&iss=z'],
  ['com.example.a:/c', 'com.example.a:/c?code=x+y&iss=z'],
])('%s with an answer → %s', (uri, expected) => {
  expect(redirectTo(uri, { code: 'x y', state: null, iss: 'z' })).toBe(expected);
});
