import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { SystemClock } from '../clock.js';
import { RequestTimings } from '../http/gateway-request.js';
import { Log } from '../log/log.js';
import { errorEnvelope, errorHeaders, Refusals } from './error-answers.js';
import { ServiceTrouble } from './framework-error.rules.js';
import { GatewayError } from './gateway-error.js';
import { GatewayErrorLog } from './gateway-error-log.js';

describe('error envelope', () => {
  it('plain refusal → code and message; no empty data, no reason, no status', () => {
    const error = new GatewayError('auth_required', { reason: 'app_key_invalid', cause: new Error('private') });
    expect(errorEnvelope(error)).toBe('{"error":{"code":"auth_required","message":"A valid credential is required."}}');
  });

  it('refusal with data → its flat values, unchanged', () => {
    const data = { scope: 'user', limit: 5, blocked: true };
    expect(JSON.parse(errorEnvelope(new GatewayError('forbidden', { data })))).toEqual({
      error: { code: 'forbidden', message: 'Your role does not allow this.', data },
    });
  });

  it('message from a client with quotes and line ends → still one JSON value', () => {
    const message = 'a"},"x":{"b\n\u2028';
    expect(JSON.parse(errorEnvelope(new GatewayError('invalid_request', { message }))).error.message).toBe(message);
  });

  it('headers → the JSON type, and those that the error adds', () => {
    expect(errorHeaders(new GatewayError('auth_required', { headers: { 'www-authenticate': 'Bearer' } }))).toEqual({
      'content-type': 'application/json; charset=UTF-8',
      'www-authenticate': 'Bearer',
    });
  });

  it.each([
    [2, '2'],
    [0.2, '1'],
    [59.001, '60'],
    [0, '0'],
  ])('retry after %d s → whole seconds, rounded up: %s', (retryAfterSeconds, text) => {
    expect(
      errorHeaders(new GatewayError('service_unavailable', { reason: 'usage_journal_full', retryAfterSeconds }))[
        'retry-after'
      ],
    ).toBe(text);
  });
});

class NoTrouble extends ServiceTrouble {
  isServiceTrouble(): boolean {
    return false;
  }
}

const lines: Record<string, unknown>[] = [];
const log = new Log(new SystemClock(), 'debug', (line) => lines.push(JSON.parse(line)));
const refusals = new Refusals(new GatewayErrorLog(log), new NoTrouble());
const fastify = Fastify();
let handle: (request: FastifyRequest, reply: FastifyReply) => void;
fastify.all('*', (request, reply) => {
  reply.hijack();
  handle(request, reply);
});

beforeEach(() => void lines.splice(0));
afterAll(() => fastify.close());

const TIMEOUT = new GatewayError('provider_error', { status: 504, reason: 'provider_timeout', retryAfterSeconds: 1 });

describe('refusing after any thrown value', () => {
  it('an unknown error → internal_error without its text, the text in the log', async () => {
    handle = (request, reply) => refusals.answerThrown(request, reply.raw, new TypeError('secret detail'));
    const response = await fastify.inject('/v1/apps/otter/proxy/openai/v1/responses');
    expect(response.statusCode).toBe(500);
    expect(response.body).not.toContain('secret detail');
    expect(lines.map((line) => line.message)).toEqual(['gateway_error', 'unhandled_error']);
  });

  it('an answer that has begun → is cut off, and still has its log line', async () => {
    handle = (request, reply) => {
      reply.raw.writeHead(200);
      reply.raw.write('half');
      refusals.answerThrown(request, reply.raw, TIMEOUT);
    };
    await expect(fastify.inject('/v1/apps/otter/proxy/openai/v1/responses')).rejects.toThrow();
    expect(lines).toMatchObject([{ message: 'gateway_error', code: 'provider_error' }]);
  });
});

describe('refusing on a response taken over from the framework', () => {
  it('nothing sent yet → status, envelope, headers and log line as usual', async () => {
    handle = (request, reply) => refusals.answer(request, reply.raw, TIMEOUT);
    const response = await fastify.inject('/v1/apps/otter/proxy/openai/v1/responses');
    expect(response.statusCode).toBe(504);
    expect(response.headers).toMatchObject({ 'content-type': 'application/json; charset=UTF-8', 'retry-after': '1' });
    expect(response.json()).toEqual({
      error: { code: 'provider_error', message: 'The provider could not be reached.' },
    });
    expect(lines).toMatchObject([{ message: 'gateway_error', reason: 'provider_timeout', status: 504, app: 'otter' }]);
  });

  it('measured request → Server-Timing with the measured stages; none on routes without timing', async () => {
    handle = (request, reply) => {
      request.timings = new RequestTimings();
      request.timings.limiterMs = 1.5;
      refusals.answer(request, reply.raw, TIMEOUT);
    };
    const { headers } = await fastify.inject('/');
    expect(headers['server-timing']).toBe('auth;dur=0.0, limiter;dur=1.5, provider_ttfb;dur=0.0');
    handle = (request, reply) => refusals.answer(request, reply.raw, TIMEOUT);
    expect((await fastify.inject('/v1/healthz')).headers).not.toHaveProperty('server-timing');
  });

  it('an unexpected failure → no detail for the client, all details in the log', async () => {
    const error = new GatewayError('internal_error', { cause: new TypeError('x is undefined') });
    handle = (request, reply) => refusals.answer(request, reply.raw, error);
    expect((await fastify.inject('/')).body).not.toContain('undefined');
    expect(lines).toMatchObject([{ message: 'gateway_error' }, { error: 'TypeError: x is undefined' }]);
  });

  it('the client has left → logged, nothing written, nothing thrown', async () => {
    const done = Promise.withResolvers<boolean>();
    handle = (request, reply) => {
      reply.raw.destroy();
      refusals.answer(request, reply.raw, TIMEOUT);
      done.resolve(reply.raw.headersSent);
    };
    await expect(fastify.inject('/')).rejects.toThrow();
    expect(await done.promise).toBe(false);
    expect(lines).toHaveLength(1);
  });
});
