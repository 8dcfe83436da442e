import { describe, expect, it } from '@jest/globals';
import { instantOf } from '../common/clock.js';
import { isTooOld, mailEndOf } from './mail-retries.rules.js';

const HOUR = 3_600_000;
const NOW = instantOf(100 * HOUR);
const mail = (attempts: number, ageHours = 0) => ({ attempts, created_at: instantOf((100 - ageHours) * HOUR) });

describe('what follows an attempt to send a mail', () => {
  it.each([
    ['sent', mail(0), { status: 'sent' }],
    ['refused', mail(0), { status: 'failed' }],
    ['failed', mail(0), { status: 'pending', nextAttemptAt: instantOf(NOW.getTime() + 60_000) }],
    ['failed', mail(5, 9), { status: 'pending', nextAttemptAt: instantOf(NOW.getTime() + 12 * HOUR) }],
    ['failed', mail(6, 21), { status: 'failed' }],
    ['failed', mail(0, 24), { status: 'failed' }],
  ] as const)('%s of %j → %j', (status, before, end) => {
    expect(mailEndOf(status, before, NOW)).toEqual(end);
  });

  it('a mail one day old → too old; one millisecond less → not', () => {
    expect([isTooOld(mail(0, 24), NOW), isTooOld({ created_at: instantOf(76 * HOUR + 1) }, NOW)]).toEqual([
      true,
      false,
    ]);
  });
});
