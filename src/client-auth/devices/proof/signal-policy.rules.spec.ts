import { describe, expect, it } from '@jest/globals';
import { type AppAttestPolicy, requireAppAttestPolicy } from './signal-policy.rules.js';
import type { AppAttestFacts } from './signals.rules.js';

const NONE: AppAttestFacts = { environment: 'production', category: null, bundle_version: null, full_security: null };
const STORE = { category: 4, bundle_version: '2.10' };
const ATTEST = { code: 'attest_failed' };
const TOO_OLD = { code: 'app_version_too_old', reason: 'bundle_version_too_low' };

describe('policies for App Attest signals', () => {
  it.each<[Partial<AppAttestFacts>, Partial<AppAttestPolicy>, object | undefined]>([
    [{}, {}, undefined],
    [{ environment: 'development' }, {}, { ...ATTEST, reason: 'environment_not_allowed' }],
    [{}, { allowed_categories: [4], min_bundle_version: '3' }, undefined],
    [{}, { require_signals: true }, { ...ATTEST, reason: 'signals_missing' }],
    [{ category: 4 }, { require_signals: true }, { ...ATTEST, reason: 'signals_missing' }],
    [{ bundle_version: '1' }, { require_signals: true }, { ...ATTEST, reason: 'signals_missing' }],
    [STORE, { require_signals: true }, undefined],
    [STORE, { allowed_categories: [2, 4] }, undefined],
    [STORE, { allowed_categories: [2, 10] }, { ...ATTEST, reason: 'category_not_allowed' }],
    [STORE, { min_bundle_version: '2.9' }, undefined],
    [STORE, { min_bundle_version: '2.10' }, undefined],
    [STORE, { min_bundle_version: '2.11' }, TOO_OLD],
    [{ ...STORE, bundle_version: 'beta' }, { min_bundle_version: '2.11' }, undefined],
    [{ ...STORE, bundle_version: 'beta' }, { require_signals: true }, undefined],
    [
      { ...STORE, bundle_version: 'beta' },
      { min_bundle_version: '2.11', require_signals: true },
      { ...ATTEST, reason: 'bundle_version_unreadable' },
    ],
  ])('%j by %j → %j', (facts, policy, refusal) => {
    const judge = () => requireAppAttestPolicy({ ...NONE, ...facts }, { environments: ['production'], ...policy });
    if (refusal === undefined) expect(judge).not.toThrow();
    else expect(judge).toThrow(expect.objectContaining(refusal));
  });

  it('a version that is too old → named with the minimum', () => {
    expect(() =>
      requireAppAttestPolicy({ ...NONE, ...STORE }, { environments: ['production'], min_bundle_version: '3' }),
    ).toThrow(expect.objectContaining({ data: { minimum: '3', kind: 'bundle_version' } }));
  });
});
