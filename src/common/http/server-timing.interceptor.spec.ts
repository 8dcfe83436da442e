import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { lastValueFrom, of } from 'rxjs';
import { RequestTimings } from './gateway-request.js';
import { ServerTimingInterceptor } from './server-timing.interceptor.js';

async function headersOf(url: string, timings?: RequestTimings): Promise<[string, string][]> {
  const headers: [string, string][] = [];
  const reply = { header: (name: string, value: string) => headers.push([name, value]) };
  const context = new ExecutionContextHost([{ raw: { url }, timings }, reply]);
  await lastValueFrom(new ServerTimingInterceptor().intercept(context, { handle: () => of('value') }));
  return headers;
}

describe('ServerTimingInterceptor', () => {
  it('a path that promises Server-Timing → the header', async () => {
    const zeros = 'auth;dur=0.0, limiter;dur=0.0, provider_ttfb;dur=0.0';
    expect(await headersOf('/v1/apps/otter/endpoints/summary')).toEqual([['server-timing', zeros]]);
  });

  it('measured stages → their times', async () => {
    const timings = new RequestTimings();
    timings.authMs = 3;
    const [[, text] = []] = await headersOf('/v1/apps/otter/endpoints/summary', timings);
    expect(text).toMatch(/^auth;dur=3\.0/);
  });

  it('any other path → no header', async () => {
    expect(await headersOf('/v1/apps/otter/me')).toEqual([]);
  });
});
