import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anAdmission, aRefusal } from '../../../../test/support/usage/recording/usage.js';
import type { RefusedStatus, UsageAdmission } from '../usage-event.js';
import { markStored, RefusalRows, rowToStore } from './refusal-rows.js';

const MINUTE_MS = 60_000;
const START_MS = 1_763_600_040_000;

let ids = 0;

function refuse(rows: RefusalRows, overrides: Partial<UsageAdmission> = {}, status: RefusedStatus = 'blocked_user') {
  return rows.note(anAdmission({ eventId: `event-${++ids}`, createdAtMs: START_MS, ...overrides }), aRefusal(status));
}

/** Parses the rows to store and marks them stored. */
function store(rows: RefusalRows) {
  return rows.outdated().map((row) => {
    const stored = JSON.parse(rowToStore(row));
    markStored(row);
    return stored;
  });
}

describe('rows of refusals', () => {
  it('one identity, one reason, one minute → one row that counts', () => {
    const rows = new RefusalRows(10);
    expect([refuse(rows, { eventId: 'first', userId: 'ann' }), refuse(rows, { userId: 'ann' })]).toEqual([true, false]);
    expect(store(rows)).toEqual([
      expect.objectContaining({ event_id: 'first', user_id: 'ann', requests: 2, requests_before: 0 }),
    ]);
  });

  it.each<[string, Partial<UsageAdmission>, RefusedStatus]>([
    ['another user', { userId: 'bob' }, 'blocked_user'],
    ['nobody', { userId: null }, 'blocked_user'],
    ['another application', { appId: 'draws-abc123' }, 'blocked_user'],
    ['another key', { apiKeyId: 'key-2' }, 'blocked_user'],
    ['another reason', {}, 'blocked_app_rate'],
    ['the next minute', { createdAtMs: START_MS + MINUTE_MS }, 'blocked_user'],
  ])('%s → a separate row', (_name, overrides, status) => {
    const rows = new RefusalRows(10);
    refuse(rows, { userId: 'ann' });
    expect(refuse(rows, { userId: 'ann', ...overrides }, status)).toBe(true);
  });

  it('one status for two reasons → one row each, with the first message to the client', () => {
    const rows = new RefusalRows(10);
    const call = anAdmission({ createdAtMs: START_MS });
    const refusals = [
      aRefusal('blocked_policy', { code: 'model_not_allowed', message: 'Not "a".' }),
      aRefusal('blocked_policy', { code: 'path_not_allowed', reason: 'path_not_in_policy' }),
      aRefusal('blocked_policy', { code: 'model_not_allowed', message: 'Not "b".' }),
      aRefusal('blocked_app_rate', { code: 'app_rate_limited', reason: 'user_day_limit_reached', untilMs: 9 }),
    ];
    expect(refusals.map((refusal) => rows.note(call, refusal))).toEqual([true, true, false, true]);
    expect(store(rows).map(({ refusal, requests }) => [refusal, requests])).toEqual([
      [{ code: 'model_not_allowed', message: 'Not "a".' }, 2],
      [{ code: 'path_not_allowed', reason: 'path_not_in_policy', message: 'Not now.' }, 1],
      [{ code: 'app_rate_limited', reason: 'user_day_limit_reached', message: 'Not now.', until_ms: 9 }, 1],
    ]);
  });

  it('minutes → those of the clock, not sixty seconds from the first call', () => {
    const rows = new RefusalRows(10);
    const minute = Math.floor(START_MS / MINUTE_MS) * MINUTE_MS;
    refuse(rows, { createdAtMs: minute + MINUTE_MS - 1 });
    expect(refuse(rows, { createdAtMs: minute + MINUTE_MS })).toBe(true);
    expect(refuse(rows, { createdAtMs: minute })).toBe(false);
  });

  it('a row → all known data of its first call, no tokens, no cost, no cost source', () => {
    const rows = new RefusalRows(10);
    refuse(rows, { eventId: 'first', userId: 'a"nn', appVersion: '2.0' });
    expect(store(rows)).toEqual([
      {
        event_id: 'first',
        created_at_ms: START_MS,
        organization_id: 'org-1',
        app_id: 'notes-abc123',
        user_id: 'a"nn',
        api_key_id: 'key-1',
        provider_type: 'openai',
        provider_id: 'provider-1',
        provider_slug: 'openai',
        credential_source: 'direct',
        model_author: 'OpenAI',
        model: 'gpt-4.1',
        route: 'openai/v1/responses',
        app_version: '2.0',
        auth_method: 'api_key',
        status: 'blocked_user',
        refusal: { code: 'auth_required', message: 'Not now.' },
        requests: 1,
        requests_before: 0,
      },
    ]);
  });

  it('refused again while a count is being stored → that count is repeated unchanged, the rest is stored after it', () => {
    const rows = new RefusalRows(10);
    refuse(rows);
    const [row] = rows.outdated();
    if (row === undefined) throw new Error('no row');
    const sent = rowToStore(row);
    refuse(rows);
    refuse(rows);
    expect(rowToStore(row)).toBe(sent);
    markStored(row);
    expect(store(rows)).toEqual([expect.objectContaining({ requests: 3, requests_before: 1 })]);
    expect(rows.outdated()).toEqual([]);
  });

  it('the minute is over → dropped once all of it is stored, and not before', () => {
    const rows = new RefusalRows(10);
    refuse(rows, { userId: 'ann' });
    rows.sweep(START_MS + MINUTE_MS);
    expect(rows.size).toBe(1);
    store(rows);
    rows.sweep(START_MS);
    expect(rows.size).toBe(1);
    rows.sweep(START_MS + MINUTE_MS);
    expect(rows.size).toBe(0);
  });

  it('more identities than are counted separately → the others share one row per application and reason, without user or key', () => {
    const rows = new RefusalRows(2);
    for (const userId of ['ann', 'bob', 'cleo', 'dan', 'ann']) refuse(rows, { userId, appVersion: userId });
    refuse(rows, { userId: 'eve' }, 'blocked_app_rate');
    refuse(rows, { appId: 'draws-abc123', userId: 'eve', createdAtMs: START_MS + 5 * MINUTE_MS });
    refuse(rows, { appId: 'draws-abc123', userId: 'fay', createdAtMs: START_MS + 9 * MINUTE_MS });
    const told = store(rows).map((row) => [row.app_id, row.user_id, row.api_key_id, row.app_version, row.requests]);
    expect(told).toEqual([
      ['notes-abc123', 'ann', 'key-1', 'ann', 2],
      ['notes-abc123', 'bob', 'key-1', 'bob', 1],
      ['notes-abc123', undefined, undefined, undefined, 2],
      ['notes-abc123', undefined, undefined, undefined, 1],
      ['draws-abc123', undefined, undefined, undefined, 2],
    ]);
  });

  it('any refusals, stored at any moments → none lost, none duplicated, never more rows than allowed', () => {
    const refusal = fc.record({
      userId: fc.constantFrom('ann', 'bob', 'cleo', 'dan', 'eve'),
      laterMs: fc.integer({ min: 0, max: 3 * MINUTE_MS }),
      isStored: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(refusal), (refusals) => {
        const rows = new RefusalRows(3);
        let counted = 0;
        for (const { userId, laterMs, isStored } of refusals) {
          refuse(rows, { userId, createdAtMs: START_MS + laterMs });
          expect(rows.size).toBeLessThanOrEqual(4);
          if (!isStored) continue;
          for (const { requests, requests_before: before } of store(rows)) counted += requests - before;
          rows.sweep(START_MS + laterMs);
        }
        for (const { requests, requests_before: before } of store(rows)) counted += requests - before;
        expect(counted).toBe(refusals.length);
      }),
    );
  });
});
