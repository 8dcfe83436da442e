import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anAdmission, anOutcome, aReading } from '../../../../test/support/usage/recording/usage.js';
import type { UsageAdmission } from '../usage-event.js';
import type { ResolvedCost } from './usage-cost.rules.js';
import { areOfOneKind, fixedMembers, interruptedHead, ownMembers, settledHead } from './usage-event.rules.js';
import { parseEventFields } from './usage-line.rules.js';

const computed: ResolvedCost = { source: 'computed', nanoUsd: 6_000 };

function settled(admission = anAdmission(), outcome = anOutcome(), cost = computed, estimateNanoUsd = 0) {
  return JSON.parse(completed(settledHead(admitted(admission), outcome, { cost, estimateNanoUsd }), admission));
}

const admitted = (admission: UsageAdmission) => ({ admission, own: ownMembers(admission), countsTokens: false });

/** The text with the members of its kind. */
const completed = (head: string, admission: UsageAdmission) => `${head}${fixedMembers(admission)}}`;

describe('usage event', () => {
  it('finished request → every known field, zeros and nulls left out', () => {
    const outcome = anOutcome({ reading: aReading({ cachedInputTokens: 7, responseId: 'resp_1' }) });
    expect(settled(anAdmission({ userId: 'u1', appVersion: '1.2' }), outcome)).toEqual({
      event_id: '0190f0e1d2c3aabbccddeeff00112233',
      created_at_ms: 1_763_600_000_123,
      organization_id: 'org-1',
      app_id: 'notes-abc123',
      user_id: 'u1',
      api_key_id: 'key-1',
      provider_type: 'openai',
      provider_id: 'provider-1',
      provider_slug: 'openai',
      credential_source: 'direct',
      model_author: 'OpenAI',
      model: 'gpt-4.1',
      route: 'openai/v1/responses',
      app_version: '1.2',
      auth_method: 'api_key',
      status: 'ok',
      cost_source: 'computed',
      cost_nano_usd: 6_000,
      input_tokens: 1_000,
      cached_input_tokens: 7,
      output_tokens: 500,
      latency_ms: 120,
      duration_ms: 340,
      response_id: 'resp_1',
    });
  });

  it('killed in between → the same request, unresolved, without usage', () => {
    const admission = anAdmission({ userId: 'u"1' });
    const { latency_ms, duration_ms, cost_nano_usd, ...same } = settled(admission);
    expect([latency_ms, duration_ms, cost_nano_usd]).toEqual([120, 340, 6_000]);
    const interrupted = interruptedHead(admitted(admission), 0);
    expect(JSON.parse(completed(interrupted, admission))).toEqual({ ...same, cost_source: 'unresolved' });
  });

  it('cost reported by the provider → stored besides the cost, even when it is zero', () => {
    const cost: ResolvedCost = { source: 'reported', nanoUsd: 0 };
    expect(settled(anAdmission(), anOutcome(), cost)).toMatchObject({ reported_cost_nano_usd: 0 });
    expect(settled()).not.toHaveProperty('reported_cost_nano_usd');
  });

  it('an estimate besides the cost → the charge is their sum', () => {
    expect(settled(anAdmission(), anOutcome(), computed, 1_000)).toMatchObject({ charged_nano_usd: 7_000 });
    expect(settled()).not.toHaveProperty('charged_nano_usd');
  });

  it('client that disconnects → recorded; audio → in milliseconds; absurd latency → the maximum of the column', () => {
    const outcome = anOutcome({ clientAborted: true, latencyMs: 1e12, reading: aReading({ audioSeconds: 1.2345 }) });
    const row = settled(anAdmission(), outcome);
    expect(row).toMatchObject({ client_aborted: true, latency_ms: 2 ** 31 - 1, audio_milliseconds: 1_235 });
    expect(settled(anAdmission(), anOutcome({ latencyMs: null }))).not.toHaveProperty('latency_ms');
    expect(settled(anAdmission(), anOutcome({ durationMs: null }))).not.toHaveProperty('duration_ms');
  });

  it.each([
    ['openai', 'direct', undefined, 'direct'],
    ['openai', null, undefined, undefined],
    ['openrouter', 'direct', undefined, undefined],
    ['openrouter', 'direct', 'byok', 'byok'],
  ] as const)('credential source of %s, key %s, answer says %s → %s', (type, known, said, stored) => {
    const admission = anAdmission({ providerType: type, credentialSource: known });
    const row = settled(admission, anOutcome({ reading: aReading({ credentialSource: said }) }));
    expect(row.credential_source).toBe(stored);
  });

  it('several targets → every attempt in a single event', () => {
    const attempts = [{ providerSlug: 'a', model: 'm\u0000', status: null, latencyMs: 9, error: 'timeout' }];
    expect(settled(anAdmission(), anOutcome({ attempts })).attempts).toEqual([
      { provider_slug: 'a', model: 'm', status: null, latency_ms: 9, error: 'timeout' },
    ]);
  });

  it('text from clients and providers → truncated to 200 characters', () => {
    const reading = aReading({ servedModel: 'm'.repeat(300), servedProvider: 'p'.repeat(300) });
    const row = settled(anAdmission({ appVersion: 'v'.repeat(300) }), anOutcome({ reading }));
    expect([row.served_model, row.served_provider, row.app_version].map((text) => text.length)).toEqual([
      200, 200, 200,
    ]);
  });

  it('any text anywhere → valid JSON without characters that Postgres refuses', () => {
    const unit = fc.oneof(
      fc.constantFrom('\u0000', '\ud800', '\udc00'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const text = fc.string({ unit });
    fc.assert(
      fc.property(text, text, text, text, (userId, model, route, servedModel) => {
        const admission = anAdmission({ userId, model, route });
        const outcome = anOutcome({ reading: aReading({ servedModel }) });
        for (const head of [
          settledHead(admitted(admission), outcome, { cost: computed, estimateNanoUsd: 1_000 }),
          interruptedHead(admitted(admission), 7_000),
        ]) {
          const json = completed(head, admission);
          expect(JSON.parse(`${head}}`)).not.toHaveProperty('model');
          expect(json).not.toContain('\\u0000');
          expect(json).not.toContain('\n');
          expect(json.isWellFormed()).toBe(true);
          expect(parseEventFields(json)).toMatchObject({ eventId: admission.eventId, providerSlug: 'openai' });
        }
      }),
    );
  });

  it('one kind → the same fixed fields; a different value of any of them → another kind', () => {
    const admission = anAdmission({ endpointSlug: 'chat', providerGatewayId: 'gw-1', providerGatewayType: 'vercel' });
    for (const [name, value] of Object.entries(admission)) {
      const other = anAdmission({ ...admission, [name]: typeof value === 'number' ? value + 1 : `${value}-other` });
      const isSame = fixedMembers(other) === fixedMembers(admission);
      expect([name, areOfOneKind(admission, other)]).toEqual([name, isSame]);
    }
    expect(areOfOneKind(admission, { ...admission })).toBe(true);
  });
});
