import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { requireReadable, toAppSnapshot } from '../../app-directory/app-snapshot.js';
import { parseAppConfig } from '../../app-directory/config/app-config.js';
import type { Caller } from '../../client-auth/callers/caller.js';
import { NO_SUBJECTS, requireAllowedUnproven, subjectsOf } from './call-subjects.rules.js';

const row = { id: 'notes-abc123', organizationId: 'org-1', status: 'active' } as const;
const LIMITS = { groups: { team: { header: 'X-Team' }, site: { header: 'x-site' } }, runs: { max_usd: 2 } };

function subjects(
  limits: object,
  headers: Record<string, string | string[]>,
  tokenGroups: Caller['tokenGroups'] = null,
) {
  const config = parseAppConfig({ ...rawServerConfig(), authentication: { type: 'api_key' }, limits });
  const app = requireReadable(toAppSnapshot(row, { config, configError: null }));
  const caller: Partial<Caller> = { app, userId: null, tokenGroups };
  return subjectsOf(caller as Caller, { raw: new IncomingMessage(new Socket()), method: 'POST', headers });
}

const OF_GROUPS = { 'x-team': 'blue', 'x-site': 'Zürich 1' };

describe('what a call counts against', () => {
  it('no groups, no run → the shared constant', () => {
    expect(subjects({}, OF_GROUPS)).toBe(NO_SUBJECTS);
  });

  it('groups → in the order of the configuration; a run without an amount has no budget', () => {
    const { groups, run } = subjects(LIMITS, { ...OF_GROUPS, 'x-run-id': 'a b~' });
    expect(Object.entries(groups ?? {})).toEqual([
      ['team', 'blue'],
      ['site', 'Zürich 1'],
    ]);
    expect(run).toEqual({ id: 'a b~', budgetNanoUsd: undefined, maxNanoUsd: 2_000_000_000 });
  });

  it.each([
    ['0.000001', 1_000],
    ['2', 2_000_000_000],
    ['2.000000', 2_000_000_000],
  ])('an amount of %s dollars → %i nano-dollars', (usd, nanoUsd) => {
    const { run } = subjects(LIMITS, { ...OF_GROUPS, 'x-run-id': 'r', 'x-run-budget-usd': usd });
    expect(run?.budgetNanoUsd).toBe(nanoUsd);
  });

  it.each<[string, Record<string, string | string[]>, string]>([
    ['empty', { 'x-team': '' }, 'group_header_missing'],
    ['blank at an end', { 'x-team': ' a' }, 'group_header_missing'],
    ['too long', { 'x-team': 'x'.repeat(129) }, 'group_header_missing'],
    ['a control character', { 'x-team': 'a\u0007' }, 'group_header_missing'],
    ['a bidirectional override', { 'x-team': 'a\u202eb' }, 'group_header_missing'],
    ['sent twice', { 'x-team': ['a', 'b'] }, 'group_header_missing'],
    ['an empty run', { 'x-run-id': '' }, 'run_invalid'],
    ['a run with a line break', { 'x-run-id': 'a\nb' }, 'run_invalid'],
    ['a run outside ASCII', { 'x-run-id': 'ä' }, 'run_invalid'],
    ['an amount alone', { 'x-run-budget-usd': '1' }, 'run_invalid'],
    ['a negative amount', { 'x-run-id': 'r', 'x-run-budget-usd': '-1' }, 'run_invalid'],
    ['no amount', { 'x-run-id': 'r', 'x-run-budget-usd': '' }, 'run_invalid'],
    ['an amount of nothing', { 'x-run-id': 'r', 'x-run-budget-usd': '0.000000' }, 'run_invalid'],
    ['an infinite amount', { 'x-run-id': 'r', 'x-run-budget-usd': 'Infinity' }, 'run_invalid'],
    ['above the maximum', { 'x-run-id': 'r', 'x-run-budget-usd': '2.000001' }, 'run_budget_differs'],
  ])('%s → 400', (_name, headers, reason) => {
    expect(() => subjects(LIMITS, { ...OF_GROUPS, ...headers })).toThrow(
      expect.objectContaining({ status: 400, code: 'invalid_request', reason }),
    );
  });

  it('a gateway token, or an application without runs → no run', () => {
    const headers = { ...OF_GROUPS, 'x-run-id': 'r' };
    const refusal = expect.objectContaining({ status: 400, reason: 'run_not_allowed' });
    expect(() => subjects(LIMITS, headers, {})).toThrow(refusal);
    expect(() => subjects({}, { 'x-run-id': 'r' })).toThrow(refusal);
  });
});

describe('an unproven device', () => {
  const authentication = {
    ...{ type: 'device_proofs', end_user: { source: 'app_install' } },
    proofs: { app_attest: { team_id: 'ABCDE12345', bundle_id: 'com.example.app', mode: 'tier' } },
  };
  const callerOf = (unproven: Caller['unproven'], limits: object) => {
    const config = parseAppConfig({ ...rawServerConfig(), authentication, limits });
    const app = requireReadable(toAppSnapshot(row, { config, configError: null }));
    return { app, userId: 'u', tokenGroups: {}, unproven } as Partial<Caller> as Caller;
  };
  const request = { raw: new IncomingMessage(new Socket()), method: 'POST', headers: {} };
  const POOL = { unproven: { requests: { per_day: 1 } } };

  it.each([
    ['tier', POOL, { unproven: 'all' }],
    ['tier', {}, null],
    ['observe', POOL, null],
    [null, POOL, null],
  ] as const)('%s, limits %j → groups %j', (unproven, limits, groups) => {
    expect(subjectsOf(callerOf(unproven, limits), request).groups).toEqual(groups);
  });

  it.each([
    ['tier', ['ask'], 'ask', true],
    ['tier', ['ask'], 'other', false],
    ['tier', ['ask'], null, false],
    ['tier', [], 'ask', false],
    ['tier', undefined, null, true],
    ['observe', ['ask'], null, true],
    [null, ['ask'], null, true],
  ] as const)('%s, allowed %j, endpoint %s → allowed: %s', (unproven, allowed_endpoints, slug, isAllowed) => {
    const check = () => requireAllowedUnproven(callerOf(unproven, { unproven: { allowed_endpoints } }), slug);
    if (isAllowed) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'path_not_allowed', reason: 'endpoint_needs_proof' }));
  });
});
