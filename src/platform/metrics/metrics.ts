import type { LogEvents } from '../../common/log/log-events.js';
import { Family, Gauge, Histogram, type MetricAbout, Tally } from './instruments.js';

/** Bucket bounds of the time to a provider's response headers, in seconds. */
const TTFB_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const NANO_USD_PER_USD = 1e9;
const MS_PER_SECOND = 1e3;
/** By status / 100; 0 = no response. */
const STATUS_CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'];

/** Token counts of one response that add up to everything billed. */
interface CountedTokens {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

/** A cost in whole nano-dollars and its source. */
interface CountedCost {
  readonly source: string;
  readonly nanoUsd: number;
}

/**
 * The counters of this process since its start, for `/metrics`. Counting costs a few additions: no allocation, no
 * clock, no I/O. No label holds an organization id.
 */
export class Metrics {
  readonly requests = tallies({
    name: 'gateway_requests_total',
    help:
      'Requests that ended. code: the error code of the gateway; an error without one came from a provider. ' +
      'status_class none: the client disconnected before any answer.',
    type: 'counter',
    labels: ['route', 'status_class', 'code'],
  });

  readonly openRequests = tallies({
    name: 'gateway_requests_open',
    help: 'Open requests, streams and the scrape itself included.',
    type: 'gauge',
    labels: [],
  });

  readonly refusals = tallies({
    name: 'gateway_refusals_total',
    help: 'Refusals of the gateway: as many as gateway_error lines, invalid HTTP included.',
    type: 'counter',
    labels: ['code'],
  });

  readonly providerRequests = tallies({
    name: 'gateway_provider_requests_total',
    help:
      'Calls to providers, counted for each target of a named endpoint. status_class none: no answer. Without ' +
      'calls whose client disconnected before an answer.',
    type: 'counter',
    labels: ['provider_type', 'status_class'],
  });

  readonly providerTtfb = new Family(
    {
      name: 'gateway_provider_ttfb_seconds',
      help: 'Time until the response headers of a provider.',
      type: 'histogram',
      labels: ['provider_type'],
    },
    () => new Histogram(TTFB_BOUNDS),
  );

  /** Set by the module that owns the connections. */
  readonly openProviderCalls = new Gauge({
    name: 'gateway_provider_calls_open',
    help: 'Connections to providers that carry a call.',
    type: 'gauge',
    labels: [],
  });

  /** Set by `openPlatform`. */
  readonly instances = new Gauge({
    name: 'gateway_instances',
    help: 'Live instances on this database, this one included, as it sees them.',
    type: 'gauge',
    labels: [],
    across: 'most',
  });

  /** Set by `openPlatform`. */
  readonly clockAhead = new Gauge({
    name: 'gateway_clock_ahead_seconds',
    help: 'How far the clock of this machine is ahead of that of the database, which everything uses; negative: behind.',
    type: 'gauge',
    labels: [],
    divisor: MS_PER_SECOND,
    across: 'most',
  });

  /** Set by the module that counts requests. */
  readonly limitsDegraded = new Gauge({
    name: 'gateway_limits_degraded',
    help: '1 while request limits are counted without Redis although REDIS_URL is set.',
    type: 'gauge',
    labels: [],
    across: 'most',
  });

  /** Set by the budgets module. */
  readonly budgetHolds = new Gauge({
    name: 'gateway_budget_holds_open',
    help: 'Calls with a hold on a budget, until their cost is stored.',
    type: 'gauge',
    labels: [],
  });

  readonly budgetHeld = new Gauge({
    name: 'gateway_budget_held_usd',
    help: 'The sum of these holds in US dollars.',
    type: 'gauge',
    labels: [],
    divisor: NANO_USD_PER_USD,
  });

  /** Both set by the store of kept answers. */
  readonly streamBytes = new Gauge({
    name: 'gateway_stream_store_bytes',
    help: 'Memory of answers that are kept so that clients can resume them; STREAM_STORE_BYTES is its bound.',
    type: 'gauge',
    labels: [],
  });

  readonly streamsKept = new Gauge({
    name: 'gateway_streams_kept',
    help: 'Answers that are kept, those that are still arriving included.',
    type: 'gauge',
    labels: [],
  });

  readonly streamsEvicted = tallies({
    name: 'gateway_streams_evicted_total',
    help: 'Kept answers that were dropped before their time, because STREAM_STORE_BYTES was full.',
    type: 'counter',
    labels: [],
  });

  readonly tokens = tallies({
    name: 'gateway_tokens_total',
    help: 'Tokens of finished calls. kind: input, cached_input, cache_write, output; disjoint, so they can be added.',
    type: 'counter',
    labels: ['provider_type', 'kind'],
  });

  readonly cost = tallies({
    name: 'gateway_cost_usd_total',
    help: 'Cost of finished calls in US dollars. cost_source unresolved: only the known part.',
    type: 'counter',
    labels: ['provider_type', 'cost_source'],
    divisor: NANO_USD_PER_USD,
  });

  readonly estimatedCost = tallies({
    name: 'gateway_estimated_cost_usd_total',
    help: 'Additional estimated cost of finished calls, in US dollars; it counts against budgets.',
    type: 'counter',
    labels: ['provider_type'],
    divisor: NANO_USD_PER_USD,
  });

  readonly fallbacks = tallies({
    name: 'gateway_fallbacks_total',
    help: 'Targets of named endpoints that were replaced by the next one: endpoint_fallback lines.',
    type: 'counter',
    labels: [],
  });

  readonly traceSpans = tallies({
    name: 'gateway_trace_spans_total',
    help: 'Spans that the collector accepted (exported), or that were lost (lost).',
    type: 'counter',
    labels: ['outcome'],
  });

  readonly logEvents = tallies({
    name: 'gateway_log_events_total',
    help: 'Log lines by name, those that LOG_LEVEL drops included.',
    type: 'counter',
    labels: ['event'],
  });

  /** Every metric in order of export. */
  get families(): readonly (Family<Tally> | Family<Histogram>)[] {
    const { requests, openRequests, refusals, providerRequests, providerTtfb, tokens, cost, estimatedCost } = this;
    const calls = [requests, openRequests, refusals, providerRequests, providerTtfb, tokens, cost, estimatedCost];
    return [...calls, this.fallbacks, this.traceSpans, this.logEvents];
  }

  /**
   * Counts a finished request.
   *
   * @param status sent to the client; 0 when the client disconnected first.
   * @param code of the gateway's error; empty for any other response.
   */
  requestEnded(route: string, status: number, code: string): void {
    this.requests.of(route, statusClassOf(status), code).add();
  }

  /** Counts a provider's response; `ttfbMs` is the time to its headers. */
  providerAnswered(providerType: string, status: number, ttfbMs: number): void {
    this.providerRequests.of(providerType, statusClassOf(status)).add();
    this.providerTtfb.of(providerType).observe(ttfbMs / 1000);
  }

  /** Counts a provider call without a response. */
  providerFailed(providerType: string): void {
    this.providerRequests.of(providerType, statusClassOf(0)).add();
  }

  /**
   * Counts a settled call.
   *
   * @param tokens absent when the response reported none.
   * @param estimateNanoUsd estimated cost beside the known cost.
   */
  settled(providerType: string, tokens: CountedTokens | undefined, cost: CountedCost, estimateNanoUsd: number): void {
    this.cost.of(providerType, cost.source).add(cost.nanoUsd);
    if (estimateNanoUsd > 0) this.estimatedCost.of(providerType).add(estimateNanoUsd);
    if (tokens === undefined) return;
    this.countTokens(providerType, 'input', tokens.inputTokens);
    this.countTokens(providerType, 'cached_input', tokens.cachedInputTokens);
    this.countTokens(providerType, 'cache_write', tokens.cacheWriteTokens);
    this.countTokens(providerType, 'output', tokens.outputTokens);
  }

  /** Counts a log event; errors and endpoint fallbacks also have counters of their own. */
  logged(name: keyof LogEvents, fields: LogEvents[keyof LogEvents]): void {
    this.logEvents.of(name).add();
    if (name === 'gateway_error' && 'code' in fields) this.refusals.of(fields.code).add();
    if (name === 'endpoint_fallback') this.fallbacks.of().add();
  }

  private countTokens(providerType: string, kind: string, count: number): void {
    if (count > 0) this.tokens.of(providerType, kind).add(count);
  }
}

function tallies(about: MetricAbout): Family<Tally> {
  return new Family(about, () => new Tally());
}

function statusClassOf(status: number): string {
  return STATUS_CLASSES[Math.trunc(status / 100)] ?? 'none';
}
