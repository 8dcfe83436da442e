/** Configurations as an administrator would send them; every call makes new objects, so a test may change its own. */

/** Any part of a configuration that is still to be parsed. */
export type RawObject = Record<string, unknown>;

/** An issuer with every optional member. */
export function rawIssuer(): RawObject {
  return {
    jwks_url: 'https://id.example.com/keys',
    issuer: ['https://id.example.com/', 'https://old.example.com'],
    audience: 'mobile',
    user_id_claim: 'sub',
    token_header: 'X-Gateway-Token',
    required_claims: [
      { path: 'plan.name', equals: 'pro' },
      { path: 'entitlements', contains: ['pro', 'team'] },
      { path: 'entitlements', contains: 'pro' },
    ],
    max_token_lifetime_seconds: 86_400,
    provider: 'custom',
    entitlement: 'custom',
  };
}

/** A mobile application that uses every part of the grammar. */
export function rawDeviceConfig(): RawObject {
  return {
    authentication: {
      type: 'device_app_attest',
      end_user: { source: 'issuer', issuer: rawIssuer() },
      app_attest: { team_id: 'ABCDE12345', bundle_id: 'com.example.app', environments: ['production', 'development'] },
    },
    routing: {
      providers: {
        mode: 'selected',
        selected: {
          openai: {
            allowed_paths: ['v1/responses', { path: 'v1/images/{model}', fixed_model: 'gpt-4.1', clamp: 'none' }],
            allowed_models: ['gpt-4.1', 'fast'],
            max_output_tokens: 4096,
          },
        },
      },
      model_rewrites: { fast: 'gpt-4.1-mini' },
    },
    limits: {
      per_user: { requests: { per_minute: 10, per_day: 300 }, spending: { monthly_usd: 0.5 } },
      per_app: { requests: { per_minute: null, per_day: 90_000 }, spending: { monthly_usd: 250 } },
    },
    endpoints: {
      summarize: {
        api_style: 'responses',
        provider: 'openai',
        model: 'gpt-4.1',
        params: { instructions: 'Be brief.', text: { format: { type: 'text' } } },
        max_output_tokens: 800,
        fallback: [{ provider: 'openai-backup', model: 'gpt-4.1-mini' }],
      },
      transcribe: { api_style: 'transcription', provider: 'openai', model: 'whisper-1', fallback: [] },
    },
    allowed_origins: ['https://app.example.com', 'capacitor://localhost'],
    streams: { resume_seconds: 120, max_bytes: 1_048_576 },
  };
}

/** A minimal server application. */
export function rawServerConfig(): RawObject {
  return {
    authentication: { type: 'api_key' },
    routing: { providers: { mode: 'all' }, model_rewrites: {} },
  };
}

/** A server application whose routing selects these providers. */
export function rawSelection(selected: RawObject, model_rewrites: RawObject = {}): RawObject {
  return { ...rawServerConfig(), routing: { providers: { mode: 'selected', selected }, model_rewrites } };
}
