import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../common/log/secret.js';
import { dialectOf } from '../../upstreams/provider-dialect.js';
import { credentialHeaders, parseProviderSecret, secretContext, secretHintOf } from './provider-secret.rules.js';

describe('parseProviderSecret', () => {
  it.each(['sk-abc', 'x', 'with inner blank', '~!"#$%&/()=?'])(
    'secret: %j → kept exactly, hidden when printed',
    (raw) => {
      const secret = parseProviderSecret(raw);
      expect(secret.reveal()).toBe(raw);
      expect(inspect(secret)).not.toContain(raw);
    },
  );

  it.each([' sk', 'sk ', 'sk\n', 'sk\r\nx-evil: 1', 'schlüssel', 'sk\u0000', 'sk\u200b', '\t'])(
    'secret: %j, which no header carries → refused without repeating it',
    (raw) => {
      expect(() => parseProviderSecret(raw)).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          message: 'secret: must be printable ASCII without surrounding blanks',
        }),
      );
    },
  );
});

describe('secretHintOf', () => {
  it.each([
    ['sk-12345678', '5678'],
    ['12345', '2345'],
    ['1234', '34'],
    ['ab', 'ab'],
  ])('hint: %j → %j', (key, hint) => {
    expect(secretHintOf(new Secret(key))).toBe(hint);
  });
});

describe('secretContext', () => {
  it('context: names account, row, type and address; the own address of the type is the empty text', () => {
    const place = { organizationId: 'o', id: 'p', type: 'openai' as const, baseUrl: null };
    expect(secretContext(place)).toEqual({ account: 'o', provider: 'p', type: 'openai', baseUrl: '' });
    expect(secretContext({ ...place, baseUrl: 'https://a.b/' }).baseUrl).toBe('https://a.b/');
  });
});

describe('credentialHeaders', () => {
  it.each([
    ['openai', [['authorization', 'Bearer k']]],
    ['anthropic', [['x-api-key', 'k']]],
    ['gemini', [['x-goog-api-key', 'k']]],
    [
      'openrouter',
      [
        ['authorization', 'Bearer k'],
        ['x-openrouter-metadata', 'enabled'],
      ],
    ],
  ] as const)('headers: %s → its own', (type, headers) => {
    expect(credentialHeaders(dialectOf(type), new Secret('k'))).toEqual(headers);
  });
});
