import { Agent, buildConnector, request } from 'undici';
import { egressConnector } from '../outbound/egress/egress-connector.js';
import type { EgressSettings } from '../outbound/egress/egress-proxy.rules.js';
import { otlpBody } from './otlp.rules.js';
import type { Span, SpanAttributes } from './span.js';
import { type SpanCollector, SpansRefused } from './span-batch.js';

const PATH = 'v1/traces';
const TIMEOUT_MS = 5_000;
/** Source: OTLP 1.x, "Retryable Response Codes". */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_ANSWER_CHARACTERS = 64 * 1024;

/**
 * Sends OTLP over HTTP in JSON. The operator sets the address, often on this machine, so the address guard does not
 * apply.
 */
export class OtlpCollector implements SpanCollector {
  readonly #url: URL;
  readonly #agent: Agent;

  /** @param base with a trailing slash. */
  constructor(
    base: string,
    private readonly resource: SpanAttributes,
    egress: EgressSettings,
  ) {
    this.#url = new URL(PATH, base);
    const dial = buildConnector({ timeout: TIMEOUT_MS });
    this.#agent = new Agent({ connections: 1, connect: egressConnector(dial, egress, TIMEOUT_MS) });
  }

  async deliver(spans: readonly Span[]): Promise<number> {
    const { statusCode, body } = await request(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: otlpBody(spans, this.resource),
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = await body.text();
    if (statusCode >= 200 && statusCode < 300) return rejectedSpans(answer);
    const message = `status ${statusCode}`;
    throw RETRYABLE.has(statusCode) ? new Error(message) : new SpansRefused(message);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** The number of rejected spans in a successful response; most report none. */
function rejectedSpans(answer: string): number {
  if (answer.length > MAX_ANSWER_CHARACTERS || !answer.includes('partialSuccess')) return 0;
  try {
    const told: { partialSuccess?: { rejectedSpans?: unknown } } = JSON.parse(answer);
    return Number(told.partialSuccess?.rejectedSpans) || 0;
  } catch {
    return 0;
  }
}
