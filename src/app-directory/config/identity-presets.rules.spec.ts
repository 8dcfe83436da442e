import { describe, expect, it } from '@jest/globals';
import { objectOf } from '../../common/fields/config-fields.js';
import { ENTITLEMENT_PRESETS, IDENTITY_PRESETS, issuerOfPreset } from './identity-presets.rules.js';
import { IssuerConfig } from './issuer-config.js';

const read = objectOf(IssuerConfig);

function presetOf(id: string) {
  const preset = IDENTITY_PRESETS.find((one) => one.id === id);
  if (preset === undefined) throw new Error(`no preset ${id}`);
  return preset;
}

describe('identity presets', () => {
  it.each(IDENTITY_PRESETS)(
    '$id → fills settings that can be stored, from exactly the fields it asks for',
    (preset) => {
      const templates = [preset.jwks_url, preset.issuer, preset.audience].join(' ');
      const used = new Set([...templates.matchAll(/\{([a-z]+)\}/g)].map(([, name]) => name));
      expect(used).toEqual(new Set(preset.fields.map(({ name }) => name)));
      expect(read(issuerOfPreset(preset), 'issuer')).toMatchObject({ provider: preset.id, user_id_claim: 'sub' });
    },
  );

  it.each([
    [
      'firebase',
      { project: 'demo-1' },
      [
        'https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com',
        'https://securetoken.google.com/demo-1',
        'demo-1',
      ],
    ],
    [
      'supabase',
      { ref: 'xyz' },
      ['https://xyz.supabase.co/auth/v1/.well-known/jwks.json', 'https://xyz.supabase.co/auth/v1', 'authenticated'],
    ],
    [
      'auth0',
      { domain: 't.eu.auth0.com', audience: 'api' },
      ['https://t.eu.auth0.com/.well-known/jwks.json', 'https://t.eu.auth0.com/', 'api'],
    ],
    [
      'clerk',
      { host: 'clerk.example.com', audience: 'gw' },
      ['https://clerk.example.com/.well-known/jwks.json', 'https://clerk.example.com', 'gw'],
    ],
  ])('%s with %j → key set, issuer (trailing slash kept) and audience', (id, values, [jwks_url, issuer, audience]) => {
    expect(read(issuerOfPreset(presetOf(id), values), 'issuer')).toMatchObject({
      jwks_url,
      issuer: [issuer],
      audience: [audience],
    });
  });

  it('an entered value with braces → is kept as text', () => {
    expect(issuerOfPreset(presetOf('firebase'), { project: '{project}$&' })).toMatchObject({
      audience: ['{project}$&'],
    });
  });

  it('entitlement presets → a required claim that can be stored', () => {
    for (const { id, path } of ENTITLEMENT_PRESETS) {
      const claim = { path: path || 'plan', contains: ['pro'] };
      const issuer = { ...issuerOfPreset(presetOf('custom')), required_claims: [claim], entitlement: id };
      expect(read(issuer, 'issuer')).toMatchObject({ required_claims: [claim], entitlement: id });
    }
  });
});
