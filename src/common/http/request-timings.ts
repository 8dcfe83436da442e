/** Milliseconds per stage before the provider's response arrived. */
export class RequestTimings {
  authMs = 0;
  limiterMs = 0;
  providerTtfbMs = 0;

  /** The text of the `Server-Timing` header: three metrics with one decimal each. */
  header(): string {
    return `auth;dur=${this.authMs.toFixed(1)}, limiter;dur=${this.limiterMs.toFixed(1)}, provider_ttfb;dur=${this.providerTtfbMs.toFixed(1)}`;
  }
}

export const SERVER_TIMING = 'server-timing';
