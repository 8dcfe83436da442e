import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../common/errors/gateway-error.js';
import { actionSourceOf, managementKeyRefused, readManagementKey } from './admin-credential.rules.js';

const KEY = `gw_mgmt_${'Ab3'.repeat(16)}`;
const PLAIN = 'Bearer realm="management"';
const INVALID = 'Bearer realm="management", error="invalid_token"';

function refusalOf(header: string | undefined): GatewayError {
  try {
    readManagementKey(header);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('readManagementKey', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('scheme %s → the key, whatever the case', (scheme) => {
    expect(readManagementKey(`${scheme} ${KEY}`).reveal()).toBe(KEY);
  });

  it.each([
    ['no header', undefined, PLAIN],
    ['an empty header', '', PLAIN],
    ['the scheme alone', 'Bearer', PLAIN],
    ['another scheme', `Basic ${KEY}`, PLAIN],
    ['the key without a scheme', KEY, PLAIN],
    ['two tokens', `Bearer ${KEY} ${KEY}`, PLAIN],
    ['an application key', 'Bearer gw_0123456789012345678901234567890123456789012345678', INVALID],
    ['a connection token', `Bearer gw_oat_${'a'.repeat(48)}`, INVALID],
    ['the prefix in capitals', `Bearer ${KEY.replace('gw_mgmt_', 'GW_MGMT_')}`, INVALID],
    ['a random part below 128 bits', `Bearer gw_mgmt_${'a'.repeat(21)}`, INVALID],
    ['a key beyond any length we make', `Bearer gw_mgmt_${'a'.repeat(201)}`, INVALID],
    ['two keys with a comma', `Bearer ${KEY},${KEY}`, INVALID],
  ])('%s → 401 auth_required with the challenge that fits', (_name, header, challenge) => {
    const { code, status, headers } = refusalOf(header);
    expect({ code, status, headers }).toEqual({
      code: 'auth_required',
      status: 401,
      headers: { 'www-authenticate': challenge },
    });
  });

  it('any text → a key of the documented form, or a refusal that does not repeat it', () => {
    const piece = fc.constantFrom('Bearer', 'bearer ', ' ', KEY, 'gw_mgmt_', '\t', ',', 'a'.repeat(22), 'ü');
    const header = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(header, (text) => {
        try {
          expect(readManagementKey(text).reveal()).toMatch(/^gw_mgmt_[A-Za-z0-9_-]{22,200}$/);
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          expect(error.message).toBe('A valid credential is required.');
        }
      }),
    );
  });
});

describe('managementKeyRefused', () => {
  it('a key that opens nothing → told apart from a missing one by the challenge only', () => {
    const { code, message, headers } = managementKeyRefused();
    expect({ code, message }).toEqual({ code: 'auth_required', message: refusalOf(undefined).message });
    expect(headers).toEqual({ 'www-authenticate': INVALID });
  });
});

describe('actionSourceOf', () => {
  it.each([
    ['cli', 'cli'],
    ['mcp', 'mcp'],
    [undefined, 'api'],
    ['web', 'api'],
    ['system', 'api'],
    ['CLI', 'api'],
    ['cli, mcp', 'api'],
    [['cli', 'mcp'], 'api'],
  ])('X-Client: %p → %s', (client, source) => {
    expect(actionSourceOf(client)).toBe(source);
  });
});
