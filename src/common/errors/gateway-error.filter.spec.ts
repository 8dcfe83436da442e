import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ArgumentsHost, HttpException } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { SystemClock } from '../clock.js';
import { RequestTimings } from '../http/gateway-request.js';
import { Log } from '../log/log.js';
import { ServiceTrouble } from './framework-error.rules.js';
import { GatewayErrorFilter } from './gateway-error.filter.js';
import { GatewayError } from './gateway-error.js';
import { GatewayErrorLog } from './gateway-error-log.js';

const DATABASE_AWAY = new Error('database away');

class DatabaseTrouble extends ServiceTrouble {
  isServiceTrouble(error: unknown): boolean {
    return error === DATABASE_AWAY;
  }
}

const lines: Record<string, unknown>[] = [];
const log = new Log(new SystemClock(), 'debug', (line) => lines.push(JSON.parse(line)));
const filter = new GatewayErrorFilter(new GatewayErrorLog(log), new DatabaseTrouble());
const fastify = Fastify();
let handle: (request: FastifyRequest, reply: FastifyReply) => unknown;

fastify.setErrorHandler((error, request: FastifyRequest, reply: FastifyReply) => {
  const host: ArgumentsHost = new ExecutionContextHost([request, reply]);
  filter.catch(error, host);
});
fastify.all('*', (request, reply) => handle(request, reply));

beforeEach(() => void lines.splice(0));
afterAll(() => fastify.close());

function throwing(error: unknown): Promise<{ statusCode: number; headers: object; body: string }> {
  handle = () => {
    throw error;
  };
  return fastify.inject({
    method: 'POST',
    url: '/v1/apps/otter/me?token=private',
    headers: { 'x-app-version': '1.2' },
  });
}

describe('the error filter', () => {
  it('a refusal → its envelope, its headers and exactly one line with exactly the specified fields', async () => {
    const response = await throwing(
      new GatewayError('service_unavailable', {
        reason: 'usage_journal_full',
        retryAfterSeconds: 2,
        data: { pending: 9 },
      }),
    );
    expect(response.statusCode).toBe(503);
    expect(response.headers).toMatchObject({ 'content-type': 'application/json; charset=UTF-8', 'retry-after': '2' });
    expect(JSON.parse(response.body)).toEqual({
      error: { code: 'service_unavailable', message: expect.any(String), data: { pending: 9 } },
    });
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'gateway_error',
        timestamp: expect.any(String),
        code: 'service_unavailable',
        reason: 'usage_journal_full',
        status: 503,
        path: '/v1/apps/otter/me',
        method: 'POST',
        app: 'otter',
        appVersion: '1.2',
      },
    ]);
  });

  it('an unexpected failure → 500 without detail; the detail is logged', async () => {
    const response = await throwing(new TypeError('x is not a function'));
    expect(response.statusCode).toBe(500);
    expect(response.body).toBe('{"error":{"code":"internal_error","message":"An internal error occurred."}}');
    expect(lines).toMatchObject([
      { message: 'gateway_error', code: 'internal_error', status: 500 },
      {
        message: 'unhandled_error',
        level: 'error',
        error: 'TypeError: x is not a function',
        path: '/v1/apps/otter/me',
      },
    ]);
  });

  it('a failure wrapped as internal_error → its cause is logged too', async () => {
    await throwing(new GatewayError('internal_error', { cause: new RangeError('no such day') }));
    expect(lines).toMatchObject([{ message: 'gateway_error' }, { error: 'RangeError: no such day' }]);
  });

  it('internal_error on purpose, without a cause → no second line', async () => {
    await throwing(new GatewayError('internal_error', { reason: 'app_config_unreadable' }));
    expect(lines).toMatchObject([{ message: 'gateway_error', reason: 'app_config_unreadable' }]);
    expect(lines).toHaveLength(1);
  });

  it('the database is unavailable → 503, no stack in the log', async () => {
    expect((await throwing(DATABASE_AWAY)).statusCode).toBe(503);
    expect(lines).toMatchObject([{ message: 'gateway_error', reason: 'database_unavailable' }]);
    expect(lines).toHaveLength(1);
  });

  it('a framework error below 500 → warn', async () => {
    expect((await throwing(new HttpException('private', 405))).statusCode).toBe(400);
    expect(lines).toMatchObject([{ message: 'gateway_error', level: 'warn', code: 'invalid_request' }]);
  });

  it('a route with timings → the refusal carries the measured times', async () => {
    handle = (request) => {
      request.timings = new RequestTimings();
      request.timings.authMs = 3;
      throw new GatewayError('auth_required');
    };
    const { headers } = await fastify.inject('/');
    expect(headers['server-timing']).toBe('auth;dur=3.0, limiter;dur=0.0, provider_ttfb;dur=0.0');
    expect((await throwing(new GatewayError('auth_required'))).headers).not.toHaveProperty('server-timing');
  });

  it('the answer has begun → it is cut off, so that it does not look complete', async () => {
    handle = (_request, reply) => {
      reply.raw.writeHead(200).write('half');
      throw new Error('broke');
    };
    const url = await fastify.listen({ port: 0, host: '127.0.0.1' });
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
    expect(lines.map(({ message }) => message)).toEqual(['gateway_error', 'unhandled_error']);
  });
});
