import { describe, expect, it } from '@jest/globals';
import { anAdmission, anOutcome } from '../../../test/support/usage.js';
import type { UsageAdmission, UsageAttempt, UsageOutcome } from '../../usage/usage-event.js';
import type { UsageRecorder } from '../../usage/usage-recorder.service.js';
import { CallRecord } from './call-record.js';

const failed: UsageAttempt = { providerSlug: 'main', model: 'gpt-4.1', status: 503, latencyMs: 4, error: null };
const served: UsageAttempt = { providerSlug: 'backup', model: 'grok-4.5', status: 200, latencyMs: 7, error: null };

/** A record, and what its recorder was told in order. */
function aRecord() {
  const told: unknown[] = [];
  const ticket = (admission: UsageAdmission) => ({ admission });
  const recorder = {
    admit: (admission: UsageAdmission) => {
      told.push(['admit', admission.providerSlug]);
      return ticket(admission);
    },
    redirect: (_before: unknown, admission: UsageAdmission) => {
      told.push(['redirect', admission.providerSlug]);
      return ticket(admission);
    },
    settle: ({ admission }: { admission: UsageAdmission }, outcome: UsageOutcome) => {
      told.push(['settle', admission.providerSlug, outcome.attempts]);
    },
  };
  return { record: new CallRecord(recorder as unknown as UsageRecorder), told };
}

describe('record of a request (decision 4.6)', () => {
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
    record.addFailed(failed);
    record.admit(anAdmission({ providerSlug: 'backup' }));
    record.settle(anOutcome(), served);
    expect(told).toEqual([
      ['admit', 'main'],
      ['redirect', 'backup'],
      ['settle', 'backup', [failed, served]],
    ]);
  });

  it('client left before the second target was called → the first alone is told of', () => {
    const { record, told } = aRecord();
    record.admit(anAdmission({ providerSlug: 'main' }));
    record.addFailed(failed);
    record.settle(anOutcome({ clientAborted: true }), undefined);
    expect(told.at(-1)).toEqual(['settle', 'main', [failed]]);
  });

  it('nothing was ever sent → no event', () => {
    const { record, told } = aRecord();
    record.addFailed(failed);
    record.settle(anOutcome(), undefined);
    expect([record.isAdmitted, told]).toEqual([false, []]);
  });
});
