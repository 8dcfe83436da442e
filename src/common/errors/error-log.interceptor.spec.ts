import { beforeEach, describe, expect, it } from '@jest/globals';
import { HttpException } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { lastValueFrom, type Observable, of, throwError } from 'rxjs';
import { SystemClock } from '../clock.js';
import { Log } from '../log/log.js';
import { ErrorLogInterceptor } from './error-log.interceptor.js';
import { GatewayError } from './gateway-error.js';
import { GatewayErrorLog } from './gateway-error-log.js';
import { ServiceTrouble } from './service-trouble.js';

class NoTrouble extends ServiceTrouble {
  isServiceTrouble(): boolean {
    return false;
  }
}

const lines: Record<string, unknown>[] = [];
const errorLog = new GatewayErrorLog(new Log(new SystemClock(), 'debug', (line) => lines.push(JSON.parse(line))));
const interceptor = new ErrorLogInterceptor(errorLog, new NoTrouble());

beforeEach(() => void lines.splice(0));

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
    expect(lines).toMatchObject([{ message: 'gateway_error', code }, ...(code === 'internal_error' ? [{}] : [])]);
  });

  it('the filter logs the same request → still one line', async () => {
    const { request, result } = intercepted(throwError(() => new GatewayError('app_not_found')));
    const error = await result.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    if (error instanceof GatewayError) errorLog.write(Object(request), error);
    expect(lines).toHaveLength(1);
  });
});
