import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../test/support/clock.js';
import { eventually } from '../../../test/support/eventually.js';
import { aProvider } from '../../../test/support/providers/provider-instances.js';
import { anAdmission } from '../../../test/support/usage/recording/usage.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Log } from '../../common/log/log.js';
import { maxCostOf } from '../../pricing/max-cost.rules.js';
import { compilePrice } from '../../pricing/model-price.js';
import type { AdmittedRequest } from '../admitted-request.js';
import type { OutgoingCall, OutgoingCalls, OutgoingRequest } from '../outgoing-calls.service.js';
import type { NextCall } from '../round-trip/provider-call.js';
import type { EndpointPlan, ReadyTarget } from './endpoint-plan.js';
import type { EndpointRequest } from './endpoint-request.js';
import { TargetChain } from './target-chain.js';

const TOTAL_MS = 120_000;

const target = (slug: string): ReadyTarget => ({
  provider: aProvider({ slug }),
  style: 'responses',
  path: 'v1/responses',
  credential: ['authorization', `Bearer sk-of-${slug}`],
  model: { requested: 'm', canonical: 'm', wire: 'm', price: undefined, source: 'body' },
});

const [main, second, third] = [target('main'), target('second'), target('third')];

let clock: FakeClock;
let lines: Record<string, unknown>[];
let made: OutgoingCall[];
/** The request from which the chain composes calls. */
let request: WeakRef<EndpointRequest>;
/** Slugs of providers that are paused, have no free connection, or cannot compose the request. */
let paused: string[];
let crowded: string[];
let impossible: string[];
/** Requested reservations, and the limit above which they fail. */
let asked: number[];
let mostHeld: number;

beforeEach(() => {
  clock = new FakeClock();
  [lines, made, paused, crowded, impossible, asked] = [[], [], [], [], [], []];
  mostHeld = Number.POSITIVE_INFINITY;
});

function chainOf(...fallbacks: readonly ReadyTarget[]): TargetChain {
  const calls: Partial<OutgoingCalls> = {
    eventOf: (_outgoing, { provider }) => anAdmission({ providerSlug: provider.slug }),
    connect: (_outgoing, call) => {
      if (crowded.includes(call.target.provider.slug)) return undefined;
      made.push(call);
      return { call: { admission: call.event } } as NextCall;
    },
  };
  const composed: EndpointRequest = {
    forTarget: ({ provider, model }) => {
      if (impossible.includes(provider.slug)) throw new GatewayError('invalid_request');
      return admittedFor(model);
    },
    boundsFor: () => BOUNDS,
  };
  request = new WeakRef(composed);
  const plan: Partial<EndpointPlan> = { endpointSlug: 'sum', primary: main, fallbacks };
  const outgoing: Partial<OutgoingRequest> = { eventId: 'event-1' };
  return new TargetChain(plan as EndpointPlan, composed, outgoing as OutgoingRequest, {
    calls: calls as OutgoingCalls,
    clock,
    log: new Log(clock, 'info', (line) => lines.push(JSON.parse(line))),
    ttfbTimeoutMs: TOTAL_MS,
    cover: (nanoUsd) => {
      asked.push(nanoUsd);
      return nanoUsd <= mostHeld;
    },
    isStillActive: ({ provider }) => !paused.includes(provider.slug),
  });
}

const BOUNDS = { inputTokens: 2, outputTokens: 1, audioSeconds: 0 };

const admittedFor = (model: AdmittedRequest['model']): AdmittedRequest => ({
  model,
  path: 'v1/responses',
  body: Buffer.from('{}'),
  withholdUsageChunk: false,
  hostedTools: [],
  bounds: BOUNDS,
  sent: { inputTokens: 1, audioSeconds: 0 },
});

const maxCostOfTarget = ({ model }: ReadyTarget) => maxCostOf(model.price, BOUNDS);
const first = (chain: TargetChain) => chain.first(admittedFor(main.model));
const slugs = () => made.map(({ target: { provider } }) => provider.slug);

describe('chain of targets', () => {
  it('targets → one after the other, each once, then none', () => {
    const chain = chainOf(second, third);
    expect([first(chain), chain.hasNext]).toEqual([expect.anything(), true]);
    expect([chain.next('status_503', 0), chain.hasNext]).toEqual([expect.anything(), true]);
    expect([chain.next('status_429', 0), chain.hasNext]).toEqual([expect.anything(), false]);
    expect(chain.next('status_500', 0)).toBeUndefined();
    expect(slugs()).toEqual(['main', 'second', 'third']);
  });

  it('next target → one log line with both targets and the reason', () => {
    const chain = chainOf(second, third);
    first(chain);
    chain.next('status_503', 0);
    chain.next('provider_econnrefused', 0);
    expect(lines).toEqual([
      expect.objectContaining({ message: 'endpoint_fallback', provider: 'main', next: 'second', reason: 'status_503' }),
      expect.objectContaining({ provider: 'second', next: 'third', reason: 'provider_econnrefused', endpoint: 'sum' }),
    ]);
  });

  it.each([
    ['whose provider was paused meanwhile', 'provider_not_active', () => paused.push('second')],
    ['without a free connection', 'provider_connections_exhausted', () => crowded.push('second')],
    ['that cannot be asked so', 'invalid_request', () => impossible.push('second')],
  ])('target %s → skipped, and the log says why: %s', (_name, reason, spoil) => {
    spoil();
    const chain = chainOf(second, third);
    first(chain);
    chain.next('status_503', 0);
    expect(slugs()).toEqual(['main', 'third']);
    expect(lines).toEqual([
      expect.objectContaining({ message: 'endpoint_fallback_skipped', endpoint: 'sum', provider: 'second', reason }),
      expect.objectContaining({ message: 'endpoint_fallback', provider: 'main', next: 'third' }),
    ]);
  });

  it('ADR 0017: each further target → its worst case is held in addition to what earlier targets may charge', () => {
    const chain = chainOf(second, third);
    first(chain);
    chain.next('provider_timeout', 700);
    chain.next('provider_timeout', 900);
    expect(asked).toEqual([700 + maxCostOfTarget(second), 900 + maxCostOfTarget(third)]);
  });

  it('ADR 0017: a target that the budget cannot cover → skipped, a cheaper one is called', () => {
    const dear = { ...second, model: { ...second.model, price: compilePrice({ input: 100, output: 900 }) } };
    mostHeld = 700 + maxCostOfTarget(third);
    const chain = chainOf(dear, third);
    first(chain);
    chain.next('provider_timeout', 700);
    expect(slugs()).toEqual(['main', 'third']);
    expect(lines[0]).toMatchObject({ provider: 'second', reason: 'budget_does_not_cover' });
    expect(chainOf(dear).next('provider_timeout', 700)).toBeUndefined();
  });

  it('primary without a free connection → the first fallback; without one, no target', () => {
    crowded.push('main');
    expect(first(chainOf(second))).toBeDefined();
    expect(lines).toEqual([expect.objectContaining({ next: 'second', reason: 'provider_connections_exhausted' })]);
    expect(first(chainOf())).toBeUndefined();
  });
});

describe('an answer under way', () => {
  it('no other target is called, and the client’s body is released', async () => {
    const chain = chainOf(second);
    first(chain);
    chain.end();
    setFlagsFromString('--expose-gc');
    const gc: () => void = runInNewContext('gc');
    const isCollected = () => {
      gc();
      return request.deref() === undefined;
    };
    await eventually(isCollected, { withinMs: 10_000 });
    expect([chain.hasNext, chain.next('status_503', 0)]).toEqual([false, undefined]);
  });
});

describe('time of a chain (ADR 0015)', () => {
  it('every target → within the remaining time, a quarter of which is reserved for each later target', () => {
    const chain = chainOf(second, third);
    first(chain);
    clock.advance(60_000);
    chain.next('provider_timeout', 0);
    clock.advance(10_000);
    chain.next('status_500', 0);
    expect(made.map(({ ttfbTimeoutMs }) => ttfbTimeoutMs)).toEqual([60_000, 30_000, 50_000]);
  });

  it('no time left → no further target, and a log line', () => {
    const chain = chainOf(second, third);
    first(chain);
    clock.advance(TOTAL_MS);
    expect([chain.next('provider_timeout', 0), chain.hasNext]).toEqual([undefined, false]);
    expect(lines).toEqual([
      expect.objectContaining({
        message: 'provider_ttfb_budget_exhausted',
        eventId: 'event-1',
        endpoint: 'sum',
        attempts: 1,
      }),
    ]);
  });
});
