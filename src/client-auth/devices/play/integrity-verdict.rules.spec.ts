import { describe, expect, it } from '@jest/globals';
import { PACKAGE_NAME, SIGNING_CERTIFICATE } from '../../../../test/support/client-auth/devices/android.js';
import { genuinePayload, type Payload } from '../../../../test/support/client-auth/devices/play.js';
import type { PlayIntegrity } from '../../../app-directory/config/device-proofs-config.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { requireIntegrityPolicy, verifyIntegrityPayload } from './integrity-verdict.rules.js';

const HASH = Buffer.alloc(32, 7).toString('base64url');
const NOW = Date.parse('2026-11-29T10:00:00Z');
const MINUTE = 60_000;
const POLICY: PlayIntegrity = {
  ...{ package_name: PACKAGE_NAME, require: ['MEETS_DEVICE_INTEGRITY'], decode: 'local', mode: 'enforce' },
  ...{ allow_unrecognized: false, allow_unlicensed: false, allow_testing: false },
};

function judge(change: (payload: Payload) => void = () => {}, policy: Partial<PlayIntegrity> = {}) {
  const payload = genuinePayload(HASH, NOW);
  change(payload);
  return verifyIntegrityPayload(payload, { policy: { ...POLICY, ...policy }, requestHash: HASH, spentAtMs: NOW });
}

function reasonOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'attest_failed') throw error;
    return error.reason;
  }
}

describe('the payload of an integrity token', () => {
  it('a genuine one → what it says', () => {
    expect(judge()).toEqual({
      ...{ package_name: PACKAGE_NAME, recognition: 'PLAY_RECOGNIZED', certificates: [SIGNING_CERTIFICATE] },
      ...{ version_code: 42, licensing: 'LICENSED', is_test: false },
      device_verdicts: ['MEETS_BASIC_INTEGRITY', 'MEETS_DEVICE_INTEGRITY'],
    });
  });

  it.each<[string, (payload: Payload) => void]>([
    [
      'of a classic request',
      ({ requestDetails: request }) => Object.assign(request, { requestHash: undefined, nonce: HASH }),
    ],
    ['with a padded nonce', ({ requestDetails: r }) => Object.assign(r, { requestHash: undefined, nonce: `${HASH}=` })],
    ['with unknown members', (payload) => Object.assign(payload, { guidanceDetails: { a: [1] }, later: null })],
    ['with a number for text', ({ requestDetails: request }) => Object.assign(request, { timestampMillis: NOW })],
    [
      'that says it is not a test',
      (payload) => Object.assign(payload, { testingDetails: { isTestingResponse: false } }),
    ],
    [
      'as old as its challenge',
      ({ requestDetails: r }) => Object.assign(r, { timestampMillis: String(NOW - 6 * MINUTE) }),
    ],
    [
      'of a clock a minute ahead',
      ({ requestDetails: r }) => Object.assign(r, { timestampMillis: String(NOW + MINUTE) }),
    ],
  ])('%s → accepted', (_, change) => {
    expect(reasonOf(() => judge(change))).toBeUndefined();
  });

  it.each<[string, string, (payload: Payload) => void]>([
    ['no request', 'integrity_package_mismatch', (p) => delete p.requestDetails],
    ['of another package', 'integrity_package_mismatch', ({ requestDetails: r }) => (r.requestPackageName = 'com.a.b')],
    ['whose app is another', 'integrity_package_mismatch', ({ appIntegrity: app }) => (app.packageName = 'com.a.b')],
    ['of another hash', 'integrity_hash_mismatch', ({ requestDetails: r }) => (r.requestHash = HASH.replace('B', 'C'))],
    ['of a hash in another form', 'integrity_hash_mismatch', ({ requestDetails: r }) => (r.requestHash = [HASH])],
    ['of no hash', 'integrity_hash_mismatch', ({ requestDetails: r }) => delete r.requestHash],
    ['of another nonce', 'integrity_hash_mismatch', ({ requestDetails: r }) => Object.assign(r, { nonce: 'AAAA' })],
    ['without a time', 'integrity_payload_invalid', ({ requestDetails: r }) => delete r.timestampMillis],
    ['of an odd time', 'integrity_payload_invalid', ({ requestDetails: r }) => (r.timestampMillis = '-1')],
    [
      'older than its challenge',
      'integrity_token_expired',
      ({ requestDetails: r }) => (r.timestampMillis = String(NOW - 6 * MINUTE - 1)),
    ],
    [
      'of the future',
      'integrity_token_expired',
      ({ requestDetails: r }) => (r.timestampMillis = String(NOW + MINUTE + 1)),
    ],
    ['of testers', 'integrity_test_response', (p) => Object.assign(p, { testingDetails: { isTestingResponse: true } })],
    [
      'of odd testers',
      'integrity_test_response',
      (p) => Object.assign(p, { testingDetails: { isTestingResponse: 'no' } }),
    ],
    [
      'of an unknown copy',
      'app_unrecognized',
      ({ appIntegrity: a }) => (a.appRecognitionVerdict = 'UNRECOGNIZED_VERSION'),
    ],
    [
      'not evaluated',
      'app_not_evaluated',
      (p) => Object.assign(p, { appIntegrity: { appRecognitionVerdict: 'UNEVALUATED' } }),
    ],
    ['of no app', 'app_not_evaluated', (p) => delete p.appIntegrity],
    ['without verdicts', 'device_verdict_missing', (p) => delete p.deviceIntegrity],
    [
      'with a lower verdict',
      'device_verdict_missing',
      ({ deviceIntegrity: d }) => (d.deviceRecognitionVerdict = ['MEETS_BASIC_INTEGRITY']),
    ],
    ['without a licence', 'app_unlicensed', ({ accountDetails: a }) => (a.appLicensingVerdict = 'UNLICENSED')],
    ['without a judged licence', 'license_not_evaluated', (p) => delete p.accountDetails],
    ['with a list for an object', 'integrity_payload_invalid', (p) => (p.deviceIntegrity = [])],
    ['with null for an object', 'integrity_payload_invalid', (p) => (p.appIntegrity = null)],
    [
      'with text for a list',
      'integrity_payload_invalid',
      ({ deviceIntegrity: d }) => (d.deviceRecognitionVerdict = 'MEETS'),
    ],
    [
      'with numbers in a list',
      'integrity_payload_invalid',
      ({ deviceIntegrity: d }) => (d.deviceRecognitionVerdict = [1]),
    ],
    [
      'with a long list',
      'integrity_payload_invalid',
      ({ deviceIntegrity: d }) => (d.deviceRecognitionVerdict = Array(21).fill('A')),
    ],
    [
      'with a short digest',
      'integrity_payload_invalid',
      ({ appIntegrity: a }) => (a.certificateSha256Digest = ['AAAA']),
    ],
    [
      'with a number for a verdict',
      'integrity_payload_invalid',
      ({ accountDetails: a }) => (a.appLicensingVerdict = 1),
    ],
  ])('%s → %s', (_, reason, change) => {
    expect(reasonOf(() => judge(change))).toBe(reason);
  });

  it.each([null, 'text', 7, [], undefined])('%j → integrity_payload_invalid', (payload) => {
    const expected = { policy: POLICY, requestHash: HASH, spentAtMs: NOW };
    expect(reasonOf(() => verifyIntegrityPayload(payload, expected))).toBe('integrity_payload_invalid');
  });

  it('a verdict inherited from the prototype → ignored', () => {
    const payload: object = Object.create(genuinePayload(HASH, NOW));
    const expected = { policy: POLICY, requestHash: HASH, spentAtMs: NOW };
    expect(reasonOf(() => verifyIntegrityPayload(payload, expected))).toBe('integrity_package_mismatch');
  });
});

describe('what an application allows', () => {
  it.each<[string, Partial<PlayIntegrity>, (payload: Payload) => void]>([
    [
      'unrecognized copies',
      { allow_unrecognized: true },
      ({ appIntegrity: app }) => (app.appRecognitionVerdict = 'UNRECOGNIZED_VERSION'),
    ],
    [
      'unlicensed accounts',
      { allow_unlicensed: true },
      ({ accountDetails: a }) => (a.appLicensingVerdict = 'UNLICENSED'),
    ],
    ['accounts without an answer', { allow_unlicensed: true }, (p) => delete p.accountDetails],
    ['testers', { allow_testing: true }, (p) => Object.assign(p, { testingDetails: { isTestingResponse: true } })],
    ['its certificate', { certificates: ['00'.repeat(32), SIGNING_CERTIFICATE] }, () => {}],
    ['both verdicts', { require: ['MEETS_DEVICE_INTEGRITY', 'MEETS_BASIC_INTEGRITY'] }, () => {}],
  ])('%s → accepted', (_, policy, change) => {
    expect(reasonOf(() => judge(change, policy))).toBeUndefined();
  });

  it.each<[string, string, Partial<PlayIntegrity>, (payload: Payload) => void]>([
    ['another certificate', 'signing_certificate_not_allowed', { certificates: ['00'.repeat(32)] }, () => {}],
    [
      'an unrecognized copy with another certificate',
      'signing_certificate_not_allowed',
      { allow_unrecognized: true, certificates: ['00'.repeat(32)] },
      ({ appIntegrity: app }) => (app.appRecognitionVerdict = 'UNRECOGNIZED_VERSION'),
    ],
    [
      'an app that was not evaluated',
      'app_not_evaluated',
      { allow_unrecognized: true },
      ({ appIntegrity: app }) => (app.appRecognitionVerdict = 'UNEVALUATED'),
    ],
    [
      'one verdict of two',
      'device_verdict_missing',
      { require: ['MEETS_DEVICE_INTEGRITY', 'MEETS_STRONG_INTEGRITY'] },
      () => {},
    ],
  ])('%s → %s', (_, reason, policy, change) => {
    expect(reasonOf(() => judge(change, policy))).toBe(reason);
  });

  it('facts of a registration → judged again under another configuration', () => {
    const facts = judge();
    expect(reasonOf(() => requireIntegrityPolicy(facts, POLICY))).toBeUndefined();
    const other = { ...POLICY, package_name: 'com.example.other' };
    expect(reasonOf(() => requireIntegrityPolicy(facts, other))).toBe('integrity_package_mismatch');
    const strict = { ...POLICY, require: ['MEETS_STRONG_INTEGRITY' as const] };
    expect(reasonOf(() => requireIntegrityPolicy(facts, strict))).toBe('device_verdict_missing');
  });
});
