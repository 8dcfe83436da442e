import { describe, expect, it } from '@jest/globals';
import { readByType } from './by-gateway-type.js';
import {
  CREATE_FORMS,
  type CreateGatewayRequest,
  TEST_FORMS,
  type TestGatewayRequest,
} from './provider-gateway.request.js';

const PLACE = { accountId: 'account', gatewayId: 'gateway' };

function create(sent: Record<string, unknown>): CreateGatewayRequest {
  return readByType<CreateGatewayRequest>(CREATE_FORMS, sent);
}

describe('readByType', () => {
  it('body: of each type → its own form, names and addresses trimmed, the token kept', () => {
    expect(create({ type: 'cf_aig', name: ' A ', token: ' a token ', accountId: ' a ', gatewayId: 'g\n' })).toEqual({
      type: 'cf_aig',
      name: 'A',
      token: ' a token ',
      accountId: 'a',
      gatewayId: 'g',
    });
    expect(create({ type: 'vercel', name: 'A', token: 'a-token-8' })).toEqual({
      type: 'vercel',
      name: 'A',
      token: 'a-token-8',
    });
  });

  it.each([undefined, null, '', 'CF_AIG', 'cloudflare', 'constructor', '__proto__', 1, ['vercel'], { a: 1 }])(
    'type %j → refused with the known types, whatever else is wrong',
    (type) => {
      for (const forms of [CREATE_FORMS, TEST_FORMS]) {
        expect(() => readByType<object>(forms, { type, unknown: 1 })).toThrow(
          expect.objectContaining({ code: 'invalid_request', message: 'type: must be one of "cf_aig", "vercel"' }),
        );
      }
    },
  );

  it.each([
    [{ type: 'vercel', name: 'A', token: 'a-token-8', accountId: 'a' }, 'accountId: is not a known member'],
    [{ type: 'cf_aig', name: 'A', token: 'a-token-8', gatewayId: 'g' }, 'accountId: is required'],
    [{ type: 'cf_aig', name: 'A', token: 'a-token-8', accountId: 'a' }, 'gatewayId: is required'],
    [{ type: 'vercel', token: 'a-token-8' }, 'name: is required'],
    [{ type: 'vercel', name: 'A' }, 'token: is required'],
    [{ type: 'vercel', name: 'A', token: '' }, 'token: must be text of 8 to 4096 characters'],
    [{ type: 'vercel', name: 'A', token: 'a-token-8', config: {} }, 'config: is not a known member'],
  ])('body: %j → refused at the first problem', (sent, message) => {
    expect(() => create(sent)).toThrow(expect.objectContaining({ code: 'invalid_request', message }));
  });

  it('test: a name → not a known member', () => {
    const sent = { type: 'cf_aig', token: 'a-token-8', ...PLACE };
    expect(readByType<TestGatewayRequest>(TEST_FORMS, sent)).toEqual(sent);
    expect(() => readByType<TestGatewayRequest>(TEST_FORMS, { ...sent, name: 'A' })).toThrow(
      'name: is not a known member',
    );
  });
});
