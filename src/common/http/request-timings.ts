/** Milliseconds spent before the provider's answer reached us, one figure a stage. */
export class RequestTimings {
  authMs = 0;
  limiterMs = 0;
  providerTtfbMs = 0;

  /** The text of the `Server-Timing` header: three marks, one decimal each. */
  header(): string {
    return `auth;dur=${this.authMs.toFixed(1)}, limiter;dur=${this.limiterMs.toFixed(1)}, provider_ttfb;dur=${this.providerTtfbMs.toFixed(1)}`;
  }
}

/** Name of the header as it goes on the wire. */
export const SERVER_TIMING = 'server-timing';
