import { describe, expect, it } from '@jest/globals';
import { headerReference, setsCookie } from '../../common/http/answer-headers.js';
import { addAnswerHeaders, type HeadedOperation } from './openapi-headers.rules.js';

const ENVELOPE = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } };
const RETRY_AFTER = { 'Retry-After': headerReference('RetryAfter') };
const CHALLENGE = { 'WWW-Authenticate': headerReference('Challenge') };
const RENEWED = setsCookie('RenewedSessionCookie');
const BEGUN = setsCookie('SessionCookie');

function refusal(code = 'invalid_request') {
  return { description: `\`${code}\``, content: ENVELOPE };
}

/** The documented headers of each response, by status. */
function headersOf(operation: HeadedOperation): Record<string, object> {
  addAnswerHeaders(operation);
  return Object.fromEntries(Object.entries(operation.responses).map(([status, { headers = {} }]) => [status, headers]));
}

/** The headers of an operation with these alternative schemes. */
function headersWith(schemes: readonly string[], statuses: readonly string[]): Record<string, object> {
  const security = schemes.map((scheme): Record<string, unknown> => (scheme === '' ? {} : { [scheme]: [] }));
  return headersOf({ security, responses: Object.fromEntries(statuses.map((status) => [status, refusal()])) });
}

describe('addAnswerHeaders', () => {
  it('refusals: 429 and 503 → Retry-After; others → none', () => {
    const responses = { 200: { description: '' }, 400: refusal(), 429: refusal(), 503: refusal('billing_unavailable') };
    expect(headersOf({ responses })).toEqual({ 200: {}, 400: {}, 429: RETRY_AFTER, 503: RETRY_AFTER });
  });

  it('a 503 that may lack it → an optional Retry-After', () => {
    const responses = { 503: refusal('issuer_verification_unavailable`, `service_unavailable') };
    expect(headersOf({ responses })).toEqual({ 503: { 'Retry-After': headerReference('OptionalRetryAfter') } });
  });

  it('a 503 that is not a refusal → no Retry-After', () => {
    expect(headersOf({ responses: { 503: { description: 'Not ready.', content: {} } } })).toEqual({ 503: {} });
  });

  it('a body in an unsupported coding → Accept-Encoding lists the supported ones', () => {
    expect(headersOf({ responses: { 415: refusal() } })).toEqual({
      415: { 'Accept-Encoding': headerReference('AcceptEncoding') },
    });
  });

  it('MetricsBearer, 401 → WWW-Authenticate', () => {
    expect(headersWith(['MetricsBearer'], ['200', '401', '403'])).toEqual({ 200: {}, 401: CHALLENGE, 403: {} });
  });

  it('ManagementBearer, 401 → WWW-Authenticate; 403 → the same if the grant is insufficient', () => {
    const scope = { 'WWW-Authenticate': headerReference('ScopeChallenge') };
    expect(headersWith(['ManagementBearer'], ['200', '401', '403'])).toEqual({ 200: {}, 401: CHALLENGE, 403: scope });
  });

  it.each([[[]], [['GatewayBearer']]])('401 of %j → no WWW-Authenticate', (schemes) => {
    expect(headersWith(schemes, ['401'])).toEqual({ 401: {} });
  });

  it('a session → any answer renews it once it is found', () => {
    const expected = { 200: RENEWED, 401: CHALLENGE, 404: RENEWED, 413: {} };
    expect(headersWith(['ManagementBearer', 'ConsoleSession'], ['200', '401', '404', '413'])).toEqual(expected);
  });

  it('an optional session → no refusal if it is missing', () => {
    expect(headersWith(['ConsoleSession', ''], ['200', '401'])).toEqual({ 200: RENEWED, 401: RENEWED });
  });

  it('an answer that starts a session → the other answers may renew the existing one', () => {
    const responses = { 200: { headers: { ...BEGUN } }, 401: { ...refusal(), headers: { ...CHALLENGE } } };
    expect(headersOf({ responses })).toEqual({ 200: BEGUN, 401: { ...RENEWED, ...CHALLENGE } });
  });

  it('an answer that sets another cookie → no other answer does', () => {
    const state = setsCookie('SignInStateCookie');
    expect(headersOf({ responses: { 200: { headers: { ...state } }, 400: refusal() } })).toEqual({
      200: state,
      400: {},
    });
  });

  it('a provider’s answer → every status has its headers', () => {
    const relayed = {
      'Server-Timing': headerReference('ServerTiming'),
      'Retry-After': headerReference('RelayedRetryAfter'),
    };
    const responses = { 400: refusal(), 429: refusal(), default: { headers: relayed } };
    expect(headersOf({ responses })).toEqual({ 400: relayed, 429: relayed, default: relayed });
  });
});
