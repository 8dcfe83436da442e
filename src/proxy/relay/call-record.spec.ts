import { describe, expect, it } from '@jest/globals';
import { heldBy } from '../../../test/support/proxy/counted-holds.js';
import { anAdmission, anOutcome, aReading } from '../../../test/support/usage/recording/usage.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { compilePrice } from '../../pricing/model-price.js';
import type { UsageAdmission, UsageAttempt, UsageOutcome } from '../../usage/recording/usage-event.js';
import { CallRecord, type CallRecorder } from './call-record.js';

const failed: UsageAttempt = { providerSlug: 'main', model: 'gpt-4.1', status: 503, latencyMs: 4, error: null };
const served: UsageAttempt = { providerSlug: 'backup', model: 'grok-4.5', status: 200, latencyMs: 7, error: null };

/** A record, the calls of its recorder in order, and its one reservation. */
function aRecord(journal: 'writes' | 'is away' = 'writes') {
  const told: unknown[] = [];
  const outcomes: UsageOutcome[] = [];
  const { holds, ends } = heldBy(7);
  const onUnsent = () => void told.push(['unsent']);
  const ticket = (admission: UsageAdmission) => ({ admission });
  const recorder = {
    admit: (admission: UsageAdmission) => {
      if (journal === 'is away') throw new GatewayError('service_unavailable', { reason: 'usage_journal_failed' });
      told.push(['admit', admission.providerSlug]);
      return ticket(admission);
    },
    redirect: (_before: unknown, admission: UsageAdmission, unansweredNanoUsd: number) => {
      told.push(['redirect', admission.providerSlug, unansweredNanoUsd]);
      return ticket(admission);
    },
    settle: ({ admission }: { admission: UsageAdmission }, outcome: UsageOutcome) => {
      told.push(['settle', admission.providerSlug, outcome.attempts]);
      outcomes.push(outcome);
    },
  };
  return { record: new CallRecord(recorder as unknown as CallRecorder, holds, onUnsent), told, outcomes, ends };
}

describe('record of a request', () => {
  it('one target → admitted, settled; no attempts', () => {
    const { record, told } = aRecord();
    record.admit(anAdmission({ providerSlug: 'main' }));
    record.settle(anOutcome(), served);
    expect(told).toEqual([
      ['admit', 'main'],
      ['settle', 'main', undefined],
    ]);
  });

  it('second target serves → one event, of the second, with both attempts in order', () => {
    const { record, told } = aRecord();
    record.admit(anAdmission({ providerSlug: 'main' }));
    record.addFailed(failed, anOutcome({ status: 'provider_error', ending: 'refused' }));
    record.admit(anAdmission({ providerSlug: 'backup' }));
    record.settle(anOutcome(), served);
    expect(told).toEqual([
      ['admit', 'main'],
      ['redirect', 'backup', 0],
      ['settle', 'backup', [failed, served]],
    ]);
  });

  it('client disconnects before the second target was called → only the first is recorded', () => {
    const { record, told } = aRecord();
    record.admit(anAdmission({ providerSlug: 'main' }));
    record.addFailed(failed, anOutcome({ status: 'provider_error', ending: 'refused' }));
    record.settle(anOutcome({ clientAborted: true }), undefined);
    expect(told.at(-1)).toEqual(['settle', 'main', [failed]]);
  });

  it('nothing was sent → no event, and one notification', () => {
    const { record, told } = aRecord();
    record.addFailed(failed, anOutcome({ status: 'provider_error', ending: 'refused' }));
    record.settle(anOutcome(), undefined);
    record.releaseUnsent();
    expect([record.isAdmitted, told]).toEqual([false, [['unsent']]]);
  });
});

describe('money of a request', () => {
  it('recorded → belongs to the recorder from then on; the record never returns it', () => {
    const { record, ends } = aRecord();
    record.admit(anAdmission());
    record.settle(anOutcome(), served);
    record.releaseUnsent();
    expect(ends).toEqual([]);
  });

  it.each<[string, (record: CallRecord) => void]>([
    ['given up', (record) => record.releaseUnsent()],
    ['settled without a target', (record) => record.settle(anOutcome(), undefined)],
  ])('never recorded, %s → returned', (_name, end) => {
    const { record, ends } = aRecord();
    end(record);
    expect(ends).toEqual(['released 7']);
  });

  it('recording fails → hold released, and the refusal is thrown', () => {
    const { record, ends } = aRecord('is away');
    expect(() => record.admit(anAdmission())).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
    expect(ends).toEqual(['released 7']);
  });
});

describe('targets that may charge for a request they did not serve', () => {
  const price = compilePrice({ input: 2, output: 8 });
  const asked = { maxCostNanoUsd: 700_000, sent: { inputTokens: 20, audioSeconds: 0 }, maxOutputTokens: 50 };
  const late = anOutcome({ status: 'provider_error', ending: 'unanswered', loss: 'provider_timeout', price });
  const reading = aReading({ inputTokens: 3, outputTokens: 0 });

  it.each<[string, UsageOutcome, number]>([
    ['never sent', { ...late, ending: 'unsent' }, 0],
    ['heard, and no success', { ...late, ending: 'refused' }, 0],
    ['no answer in time → what was sent', late, 40_000],
    ['silent in the middle → that and all it may have generated', { ...late, ending: 'cut' }, 440_000],
    [
      'failed in its own words → that and what was seen of it',
      { ...late, ending: 'whole', seenOutputTokens: 5 },
      80_000,
    ],
    ['told all of its usage → what that costs', { ...late, ending: 'whole', reading }, 6_000],
  ])('%s', (_name, outcome, unheard) => {
    const { record, outcomes, told } = aRecord();
    record.admit(anAdmission(asked));
    record.addFailed(failed, outcome);
    record.admit(anAdmission({ providerSlug: 'backup' }));
    record.addFailed(failed, outcome);
    record.admit(anAdmission({ providerSlug: 'last' }));
    record.settle(anOutcome(), served);
    expect(told.slice(1, 3)).toEqual([
      ['redirect', 'backup', unheard],
      ['redirect', 'last', unheard + (outcome.reading === undefined ? 0 : 6_000)],
    ]);
    expect(outcomes).toMatchObject([{ unansweredNanoUsd: unheard + (outcome.reading === undefined ? 0 : 6_000) }]);
  });
});
