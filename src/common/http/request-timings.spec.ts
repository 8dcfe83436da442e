import { describe, expect, it } from '@jest/globals';
import { RequestTimings, SERVER_TIMING } from './request-timings.js';

describe('Server-Timing', () => {
  it('nothing measured yet → every mark at 0.0, so that a refusal carries them all', () => {
    expect(new RequestTimings().header()).toBe('auth;dur=0.0, limiter;dur=0.0, provider_ttfb;dur=0.0');
  });

  it('measured stages → milliseconds with one decimal, each in its own mark', () => {
    const timings = new RequestTimings();
    timings.authMs = 1.25;
    timings.limiterMs = 0.04;
    timings.providerTtfbMs = 1_234.56;
    expect(timings.header()).toBe('auth;dur=1.3, limiter;dur=0.0, provider_ttfb;dur=1234.6');
  });

  it('name → in lower case, as Node keeps header names', () => {
    expect(SERVER_TIMING).toBe('server-timing');
  });
});
