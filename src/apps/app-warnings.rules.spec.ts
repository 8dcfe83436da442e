import { describe, expect, it } from '@jest/globals';
import { rawServerConfig } from '../../test/support/apps/app-configs.js';
import { parseAppConfig } from '../app-directory/config/app-config.js';
import type { KnownProvider } from '../app-directory/config/app-references.rules.js';
import { appWarnings } from './app-warnings.rules.js';

const PLAY = { package_name: 'com.example.app', require: ['MEETS_DEVICE_INTEGRITY'] };
const APPLE = { team_id: 'ABCDE12345', bundle_id: 'com.example.app', framework_client: true };
const INSTALLS = { source: 'app_install' };
const issuer = {
  ...{ jwks_url: 'https://id.example.com/jwks', issuer: 'https://id.example.com', audience: 'app' },
  ...{ user_id_claim: 'sub', required_claims: [], max_token_lifetime_seconds: 3600 },
};
const provider = (type: KnownProvider['type']) => ({ id: type, slug: type, type, status: 'active' }) as KnownProvider;

function warningsOf(
  proofs: object,
  {
    credentials,
    type = 'anthropic',
    end_user = INSTALLS,
  }: Partial<Record<'end_user', object>> & {
    readonly credentials?: readonly string[];
    readonly type?: KnownProvider['type'];
  } = {},
): string[] {
  const authentication = { type: 'device_proofs', end_user, proofs };
  const config = parseAppConfig({ ...rawServerConfig(), authentication });
  return appWarnings({ config, providers: [provider(type)] }, credentials);
}

describe('warnings of an application', () => {
  it.each([
    ['vendor', ['service_account'], []],
    ['vendor', ['response_keys'], [expect.stringContaining('a service account')]],
    ['local', ['response_keys', 'service_account'], []],
    ['local', [], [expect.stringMatching(/^play_integrity \(decode: local\) has no credentials/)]],
  ])('Play Integrity, decode %s, with %j → %j', (decode, credentials, warnings) => {
    expect(warningsOf({ play_integrity: { ...PLAY, decode } }, { credentials })).toEqual(warnings);
  });

  it('an application that does not exist yet → nothing of credentials', () => {
    expect(warningsOf({ play_integrity: { ...PLAY, decode: 'vendor' } })).toEqual([]);
  });

  it('the framework’s client: served → none; signed-in users, no provider of the Messages API → it serves nobody', () => {
    const proofs = { app_attest: APPLE };
    expect(warningsOf(proofs)).toEqual([]);
    expect(warningsOf(proofs, { end_user: { source: 'issuer', issuer } })).toEqual([
      expect.stringContaining('end_user must be app_install'),
    ]);
    expect(warningsOf(proofs, { type: 'openai' })).toEqual([
      expect.stringContaining('no provider of the Messages API'),
    ]);
    expect(warningsOf({ app_attest: { ...APPLE, framework_client: false } }, { type: 'openai' })).toEqual([]);
  });
});
