import { describe, expect, it } from '@jest/globals';
import { heldBy } from '../../../test/support/counted-holds.js';
import { anAdmission, anOutcome, aReading } from '../../../test/support/usage.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { compilePrice } from '../../pricing/model-price.js';
import type { UsageAdmission, UsageAttempt, UsageOutcome } from '../../usage/usage-event.js';
import { CallRecord, type CallRecorder } from './call-record.js';

const failed: UsageAttempt = { providerSlug: 'main', model: 'gpt-4.1', status: 503, latencyMs: 4, error: null };
const served: UsageAttempt = { providerSlug: 'backup', model: 'grok-4.5', status: 200, latencyMs: 7, error: null };

/** A record, what its recorder was told in order, and the one hold it owns. */
function aRecord(journal: 'writes' | 'is away' = 'writes') {
  const told: unknown[] = [];
  const outcomes: UsageOutcome[] = [];
  const { holds, ends } = heldBy(7);
  const onUnsent = () => void told.push(['unsent']);
  const ticket = (admission: UsageAdmission) => ({ admission });
  const recorder = {
    admit: (admission: UsageAdmission) => {
      if (journal === 'is away') throw new GatewayError('service_unavailable');
      told.push(['admit', admission.providerSlug]);
      return ticket(admission);
    },
    redirect: (_before: unknown, admission: UsageAdmission) => {
      told.push(['redirect', admission.providerSlug]);
      return ticket(admission);
    },
    settle: ({ admission }: { admission: UsageAdmission }, outcome: UsageOutcome) => {
      told.push(['settle', admission.providerSlug, outcome.attempts]);
      outcomes.push(outcome);
    },
  };
  return { record: new CallRecord(recorder as unknown as CallRecorder, holds, onUnsent), told, outcomes, ends };
}

describe('record of a request (decision 4.6)', () => {
  it('one target → admitted, settled; no attempts', () => {
    const { record, told } = aRecord();
    record.admit(anAdmission({ providerSlug: 'main' }));
    record.settle(anOutcome(), served, true);
    expect(told).toEqual([
      ['admit', 'main'],
      ['settle', 'main', undefined],
    ]);
  });

  it('second target serves → one event, of the second, with both attempts in order', () => {
    const { record, told } = aRecord();
    record.admit(anAdmission({ providerSlug: 'main' }));
    record.addFailed(failed, true);
    record.admit(anAdmission({ providerSlug: 'backup' }));
    record.settle(anOutcome(), served, true);
    expect(told).toEqual([
      ['admit', 'main'],
      ['redirect', 'backup'],
      ['settle', 'backup', [failed, served]],
    ]);
  });

  it('client left before the second target was called → the first alone is told of', () => {
    const { record, told } = aRecord();
    record.admit(anAdmission({ providerSlug: 'main' }));
    record.addFailed(failed, true);
    record.settle(anOutcome({ clientAborted: true }), undefined, true);
    expect(told.at(-1)).toEqual(['settle', 'main', [failed]]);
  });

  it('nothing was ever sent → no event, and that is told once', () => {
    const { record, told } = aRecord();
    record.addFailed(failed, true);
    record.settle(anOutcome(), undefined, true);
    record.abandon();
    expect([record.isAdmitted, told]).toEqual([false, [['unsent']]]);
  });
});

describe('money of a request (decision 4.3)', () => {
  it('written down → the recorder’s from then on; the record never gives it back', () => {
    const { record, ends } = aRecord();
    record.admit(anAdmission());
    record.settle(anOutcome(), served, true);
    record.abandon();
    expect(ends).toEqual([]);
  });

  it.each<[string, (record: CallRecord) => void]>([
    ['given up', (record) => record.abandon()],
    ['settled without a target', (record) => record.settle(anOutcome(), undefined, true)],
  ])('never written down, %s → given back', (_name, end) => {
    const { record, ends } = aRecord();
    end(record);
    expect(ends).toEqual(['released 7']);
  });

  it('could not be written down → given back, and the refusal goes on', () => {
    const { record, ends } = aRecord('is away');
    expect(() => record.admit(anAdmission())).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
    expect(ends).toEqual(['released 7']);
  });
});

describe('targets whose answer had begun and was discarded (threats 8.3)', () => {
  const discarded: UsageAttempt = { ...failed, status: 200, error: 'server_error' };
  const price = compilePrice({ input: 2, output: 8 });

  it.each<[string, UsageOutcome, number | undefined]>([
    ['its answer told no usage → its worst case', anOutcome({ price }), 700_000],
    [
      'it told all of its usage → what that costs',
      anOutcome({ price, reading: aReading({ inputTokens: 3 }) }),
      4_006_000,
    ],
    ['it told the beginning of its usage → its worst case at least', opened(3), 700_000],
    ['it told the beginning of its usage → what is known at least', opened(1_000), 2_000_000],
  ])('%s', (_name, answer, expected) => {
    const { record, outcomes } = aRecord();
    record.admit(anAdmission({ worstNanoUsd: 700_000 }));
    record.addFailed(discarded, true, answer);
    record.admit(anAdmission({ worstNanoUsd: 50 }));
    record.settle(anOutcome(), served, true);
    expect(outcomes.map(({ unheardNanoUsd }) => unheardNanoUsd)).toEqual([expected]);
  });

  it('it fell silent → its worst case, once', () => {
    const { record, outcomes } = aRecord();
    record.admit(anAdmission({ worstNanoUsd: 700_000 }));
    record.addFailed({ ...discarded, error: 'provider_silent' }, true, anOutcome({ price }));
    record.settle(anOutcome(), served, true);
    expect(outcomes.map(({ unheardNanoUsd }) => unheardNanoUsd)).toEqual([700_000]);
  });

  function opened(inputTokens: number): UsageOutcome {
    return anOutcome({ price, reading: aReading({ inputTokens, outputTokens: 0, isOpening: true }) });
  }
});

describe('targets that did not answer in time (threats 8.3: what may have been served is not free)', () => {
  const late: UsageAttempt = { ...failed, status: null, error: 'provider_timeout' };
  const silent: UsageAttempt = { ...failed, status: 200, error: 'provider_silent' };
  const unheard = (end: (record: CallRecord) => void) => {
    const { record, outcomes } = aRecord();
    record.admit(anAdmission({ worstNanoUsd: 700 }));
    end(record);
    return outcomes.map(({ unheardNanoUsd }) => unheardNanoUsd);
  };

  it.each<[string, (record: CallRecord) => void, number | undefined]>([
    ['the only one', (record) => record.settle(anOutcome(), late, true), 700],
    ['the only one, never sent to', (record) => record.settle(anOutcome(), late, false), undefined],
    ['another failure', (record) => record.settle(anOutcome(), failed, true), undefined],
    [
      'the first, and the second as well',
      (record) => {
        record.addFailed(late, true);
        record.admit(anAdmission({ worstNanoUsd: 50 }));
        record.settle(anOutcome(), late, true);
      },
      750,
    ],
    [
      'the first, before one that serves',
      (record) => {
        record.addFailed(late, true);
        record.admit(anAdmission({ worstNanoUsd: 50 }));
        record.settle(anOutcome(), served, true);
      },
      700,
    ],
    [
      'the first, silent after it had begun to answer',
      (record) => {
        record.addFailed(silent, true);
        record.admit(anAdmission({ worstNanoUsd: 50 }));
        record.settle(anOutcome(), served, true);
      },
      700,
    ],
    [
      'the last, silent: its own outcome is charged for',
      (record) => record.settle(anOutcome(), silent, true),
      undefined,
    ],
  ])('%s', (_name, end, expected) => {
    expect(unheard(end)).toEqual([expected]);
  });
});
