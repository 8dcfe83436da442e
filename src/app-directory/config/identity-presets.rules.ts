/** One value that the operator enters for a preset. */
interface PresetField {
  /** The placeholder name in the preset's templates. */
  readonly name: string;
  readonly label: string;
  readonly example: string;
}

/** Issuer settings of one identity provider; `{name}` is a placeholder for an entered value. */
interface IdentityPreset {
  readonly id: string;
  readonly label: string;
  readonly fields: readonly PresetField[];
  readonly jwks_url: string;
  readonly issuer: string;
  readonly audience: string;
  /** Hints for the operator about the setup at the provider. */
  readonly notes: readonly string[];
}

/** A subscription check; the operator enters one or more entitlement ids. */
interface EntitlementPreset {
  readonly id: string;
  readonly label: string;
  /** Dotted path of the claim; empty: the operator enters it. */
  readonly path: string;
  readonly notes: readonly string[];
}

const USER_ID_CLAIM = 'sub';
/** One day; identity providers issue tokens with a lifetime of an hour or less. */
const MAX_TOKEN_LIFETIME_SECONDS = 86_400;
const PLACEHOLDER = /\{([a-z]+)\}/g;

/**
 * Settings of common identity providers, for the console and the API's description. They only fill in a form; stored
 * configurations are validated without them.
 *
 * Source: docs/reference/management-api.md#issuer-configuration, docs/reference/application-api.md#identity-tokens.
 */
export const IDENTITY_PRESETS: readonly IdentityPreset[] = [
  {
    id: 'firebase',
    label: 'Firebase Authentication',
    fields: [{ name: 'project', label: 'Project ID', example: 'my-project' }],
    jwks_url: 'https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com',
    issuer: 'https://securetoken.google.com/{project}',
    audience: '{project}',
    notes: ['All projects share one key set: issuer and audience identify yours.'],
  },
  {
    id: 'supabase',
    label: 'Supabase Auth',
    fields: [{ name: 'ref', label: 'Project reference', example: 'abcdefghijklmnopqrst' }],
    jwks_url: 'https://{ref}.supabase.co/auth/v1/.well-known/jwks.json',
    issuer: 'https://{ref}.supabase.co/auth/v1',
    audience: 'authenticated',
    notes: [
      'The project must use asymmetric signing keys. With the legacy shared secret it publishes no keys, and every token is rejected.',
    ],
  },
  {
    id: 'auth0',
    label: 'Auth0',
    fields: [
      { name: 'domain', label: 'Tenant domain', example: 'my-tenant.eu.auth0.com' },
      { name: 'audience', label: 'API identifier', example: 'https://api.example.com' },
    ],
    jwks_url: 'https://{domain}/.well-known/jwks.json',
    issuer: 'https://{domain}/',
    audience: '{audience}',
    notes: ['The issuer ends with a slash; keep it.', 'Send the access token of the API, not the ID token.'],
  },
  {
    id: 'clerk',
    label: 'Clerk',
    fields: [
      { name: 'host', label: 'Frontend API host', example: 'clerk.example.com' },
      { name: 'audience', label: 'Audience of the token template', example: 'gateway' },
    ],
    jwks_url: 'https://{host}/.well-known/jwks.json',
    issuer: 'https://{host}',
    audience: '{audience}',
    notes: [
      'Session tokens carry no `aud`: add one to the token template and get tokens of that template.',
      'The authorized party (`azp`) is not checked.',
    ],
  },
  {
    id: 'custom',
    label: 'Another provider',
    fields: [
      { name: 'keys', label: 'Key set URL', example: 'https://id.example.com/.well-known/jwks.json' },
      { name: 'issuer', label: 'Issuer', example: 'https://id.example.com' },
      { name: 'audience', label: 'Audience', example: 'my-app' },
    ],
    jwks_url: '{keys}',
    issuer: '{issuer}',
    audience: '{audience}',
    notes: ['Key set URL, issuer and audience are used exactly as entered.'],
  },
];

/**
 * As {@link IDENTITY_PRESETS}, for the claim of a subscription.
 *
 * Source: docs/reference/application-api.md#identity-tokens.
 */
export const ENTITLEMENT_PRESETS: readonly EntitlementPreset[] = [
  {
    id: 'revenuecat',
    label: 'RevenueCat',
    path: 'revenueCatEntitlements',
    notes: ['The identity provider must put the user’s active entitlements into this claim.'],
  },
  { id: 'custom', label: 'Another claim', path: '', notes: ['Claim and values are used exactly as entered.'] },
];

/**
 * The members of `end_user.issuer` for a preset.
 *
 * @param values by field name; the example of a field is its default.
 */
export function issuerOfPreset(preset: IdentityPreset, values: Readonly<Record<string, string>> = {}): object {
  const entered = new Map(preset.fields.map(({ name, example }) => [name, values[name] ?? example]));
  const fill = (template: string) => template.replaceAll(PLACEHOLDER, (_all, name: string) => entered.get(name) ?? '');
  return {
    jwks_url: fill(preset.jwks_url),
    issuer: [fill(preset.issuer)],
    audience: [fill(preset.audience)],
    user_id_claim: USER_ID_CLAIM,
    required_claims: [],
    max_token_lifetime_seconds: MAX_TOKEN_LIFETIME_SECONDS,
    provider: preset.id,
  };
}
