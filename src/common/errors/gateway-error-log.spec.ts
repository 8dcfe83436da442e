import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpException } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import Fastify, { type FastifyRequest } from 'fastify';
import { lastValueFrom, type Observable, of, throwError } from 'rxjs';
import { SystemClock } from '../clock.js';
import { Log } from '../log/log.js';
import { ServiceTrouble } from './framework-error.rules.js';
import { GatewayError } from './gateway-error.js';
import { ErrorLogInterceptor, GatewayErrorLog } from './gateway-error-log.js';

const lines: string[] = [];
const errorLog = new GatewayErrorLog(new Log(new SystemClock(), 'debug', (line) => lines.push(line)));
const fastify = Fastify();
let use: (request: FastifyRequest) => void;
fastify.all('*', async (request) => use(request));

beforeEach(() => void lines.splice(0));
afterAll(() => fastify.close());

async function logged(
  write: (request: FastifyRequest) => void,
  { url = '/v1/admin/providers', headers = {} } = {},
): Promise<Record<string, unknown>[]> {
  use = write;
  await fastify.inject({ method: 'POST', url, headers, payload: { apiKey: 'sk-in-body' } });
  return lines.map((line) => JSON.parse(line));
}

describe('the log line of a refusal', () => {
  it('logged by several components, several times → one line, and the request has its code', async () => {
    let refusedWith: string | undefined;
    const written = await logged((request) => {
      errorLog.write(request, new GatewayError('forbidden'));
      errorLog.write(request, new GatewayError('internal_error', { cause: new Error('later') }));
      refusedWith = request.raw.refusedWith;
    });
    expect(refusedWith).toBe('forbidden');
    expect(written).toHaveLength(1);
    expect(written[0]).toMatchObject({ code: 'forbidden', status: 403, level: 'warn' });
  });

  it('no reason, application or version → these fields are absent', async () => {
    const [line = {}] = await logged((request) => errorLog.write(request, new GatewayError('not_found')));
    expect(Object.keys(line)).toEqual(['level', 'message', 'timestamp', 'code', 'status', 'path', 'method']);
  });

  it('credentials in headers, query, body, message and data → not in any line', async () => {
    await logged(
      (request) =>
        errorLog.write(
          request,
          new GatewayError('auth_required', { message: 'bad key sk-in-message', data: { hint: 'sk-in-data' } }),
        ),
      {
        url: '/v1/apps/a/me?key=sk-in-query',
        headers: { authorization: 'Bearer sk-in-header', cookie: 'sk-in-cookie' },
      },
    );
    expect(lines).toHaveLength(1);
    expect(lines.join()).not.toContain('sk-in');
  });

  it('path and version of a hostile client → one truncated line', async () => {
    const [line] = await logged((request) => errorLog.write(request, new GatewayError('not_found')), {
      url: `/v1/apps/${'a'.repeat(2_000)}/me%0a{"level":"info"}`,
      headers: { 'x-app-version': 'v'.repeat(500) },
    });
    expect(lines.join()).not.toContain('\n');
    expect(line).toMatchObject({ appVersion: 'v'.repeat(64), level: 'warn' });
    expect(String(line?.path)).toHaveLength(512);
    expect(String(line?.app)).toHaveLength(512);
  });
});

describe('the detail of a failure', () => {
  const failure = (cause: unknown) => new GatewayError('internal_error', { cause });

  it('an error behind internal_error → its name, message and stack in a second line', async () => {
    const [, line] = await logged((request) => errorLog.write(request, failure(new RangeError('no such day'))));
    expect(line).toMatchObject({
      level: 'error',
      message: 'unhandled_error',
      path: '/v1/admin/providers',
      method: 'POST',
      error: 'RangeError: no such day',
      stack: expect.stringContaining('gateway-error-log.spec'),
    });
  });

  it('a thrown value that is not an error → only its type, since its content is unknown', async () => {
    await logged((request) => errorLog.write(request, failure('sk-in-thrown-text')));
    await logged((request) => errorLog.write(request, failure({ apiKey: 'sk-in-thrown-object' })));
    expect(lines.join()).not.toContain('sk-in');
    expect([1, 3].map((at) => JSON.parse(lines[at] ?? '{}').error)).toEqual(['Error: string', 'Error: object']);
  });

  it('the cause of an intended refusal → not logged', async () => {
    const away = new GatewayError('service_unavailable', {
      reason: 'database_unavailable',
      cause: new Error('connection refused'),
    });
    expect(await logged((request) => errorLog.write(request, away))).toHaveLength(1);
  });
});

class NoTrouble extends ServiceTrouble {
  isServiceTrouble(): boolean {
    return false;
  }
}

const interceptor = new ErrorLogInterceptor(errorLog, new NoTrouble());

function intercepted(outcome: Observable<unknown>) {
  const request = { raw: { url: '/v1/apps/otter/me' }, method: 'GET', headers: {} };
  const context = new ExecutionContextHost([request, {}]);
  return { request, result: lastValueFrom(interceptor.intercept(context, { handle: () => outcome })) };
}

describe('ErrorLogInterceptor', () => {
  it('a handler succeeds → its value, no line', async () => {
    expect(await intercepted(of('value')).result).toBe('value');
    expect(lines).toEqual([]);
  });

  it.each([
    ['of the gateway', new GatewayError('app_not_found'), 'app_not_found'],
    ['of the framework', new HttpException('private', 405), 'invalid_request'],
    ['unknown', new TypeError('x is not a function'), 'internal_error'],
  ])('an error %s → logged and thrown as the error that the client receives', async (_, thrown, code) => {
    await expect(intercepted(throwError(() => thrown)).result).rejects.toMatchObject({ code });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { message: 'gateway_error', code },
      ...(code === 'internal_error' ? [{}] : []),
    ]);
  });

  it('the filter logs the same request → still one line', async () => {
    const { request, result } = intercepted(throwError(() => new GatewayError('app_not_found')));
    const error = await result.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    if (error instanceof GatewayError) errorLog.write(Object(request), error);
    expect(lines).toHaveLength(1);
  });
});
