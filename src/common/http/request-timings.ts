/** Milliseconds spent before the provider's answer reached us, one figure a stage (specification "Events" 4). */
export class RequestTimings {
  authMs = 0;
  limiterMs = 0;
  providerTtfbMs = 0;

  /** The text of the `Server-Timing` header: three marks, one decimal each (contract-app 12.2). */
  header(): string {
    return `auth;dur=${this.authMs.toFixed(1)}, limiter;dur=${this.limiterMs.toFixed(1)}, provider_ttfb;dur=${this.providerTtfbMs.toFixed(1)}`;
  }
}

/** Name of the header as it goes on the wire. */
export const SERVER_TIMING = 'server-timing';
