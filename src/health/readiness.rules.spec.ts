import { expect, it } from '@jest/globals';
import { notReadyReason } from './readiness.rules.js';

const WORKS = { isStopping: false, database: 'ok', vault: 'ok', journal: 'ok', redis: 'ok' } as const;

it.each([
  [{}, null],
  [{ redis: 'lost' }, null],
  [{ redis: 'unused' }, null],
  [{ redis: 'other' }, 'redis'],
  [{ journal: 'full' }, 'journal'],
  [{ journal: 'failed', redis: 'other' }, 'journal'],
  [{ vault: 'misconfigured', journal: 'full' }, 'vault'],
  [{ database: 'unreachable', vault: 'misconfigured' }, 'database'],
  [{ isStopping: true, database: 'unreachable' }, 'stopping'],
  [{ isStopping: true }, 'stopping'],
] as const)('%j → %s', (change, reason) => {
  expect(notReadyReason({ ...WORKS, ...change })).toBe(reason);
});
