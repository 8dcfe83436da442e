import { expect, it } from '@jest/globals';
import { verdictOf } from './provider-verdict.rules.js';

const OK = { status: 'ok', clientAborted: false } as const;
const FAILED = { status: 'provider_error', clientAborted: false } as const;

it.each([
  ['served', { status: 200, error: null }, OK, 'good'],
  ['served, although the client left', { status: 200, error: null }, { ...OK, clientAborted: true }, 'good'],
  ['an error in a successful answer', { status: 200, error: null }, FAILED, 'error'],
  ['an answer that breaks off', { status: 200, error: 'provider_econnreset' }, FAILED, 'error'],
  ['no connection', { status: null, error: 'provider_econnrefused' }, FAILED, 'error'],
  ['no answer in time', { status: null, error: 'provider_timeout' }, FAILED, 'error'],
  ['the key is refused', { status: 401, error: null }, FAILED, 'key_refused'],
  ['the account may not', { status: 403, error: null }, FAILED, 'error'],
  ['the account has no money', { status: 402, error: null }, FAILED, 'error'],
  ['too many requests', { status: 429, error: null }, FAILED, 'error'],
  ['broken', { status: 500, error: null }, FAILED, 'error'],
  ['the request is bad', { status: 400, error: null }, FAILED, undefined],
  ['no such model', { status: 404, error: null }, FAILED, undefined],
  ['too long', { status: 413, error: null }, FAILED, undefined],
  ['the client left before the answer', { status: null, error: null }, { ...OK, clientAborted: true }, undefined],
  ['cancelled for a client that left', { status: 200, error: 'provider_cancelled' }, FAILED, undefined],
  ['the gateway stops', { status: null, error: 'gateway_interrupted' }, OK, undefined],
  ['not recorded, so not sent', { status: null, error: 'provider_not_recordable' }, FAILED, undefined],
])('%s → what the call says about its provider', (_what, attempt, outcome, verdict) => {
  expect(verdictOf(attempt, outcome)).toBe(verdict);
});
