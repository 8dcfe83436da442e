import type { Schemas } from '../api/client';

export type AppConfig = Schemas['AppConfig'];
export type AppKind = 'mobile' | 'server';

/** What the wizard asks for. */
export interface AppBasics {
  readonly kind: AppKind;
  readonly teamId: string;
  readonly bundleId: string;
  /** Whether development builds may attest too. */
  readonly allowsDevelopment: boolean;
}

/** Initial limits of a new mobile application: each user 10 requests a minute and 300 a day. */
const MOBILE_LIMITS = { per_user: { requests: { per_minute: 10, per_day: 300 } } } as const;

/** The configuration of a new application: every provider of the account, and sensible limits. */
export function newConfig({ kind, teamId, bundleId, allowsDevelopment }: AppBasics): AppConfig {
  const routing = { providers: { mode: 'all' }, model_rewrites: {} } as const;
  if (kind === 'server') return { authentication: { type: 'api_key' }, routing };
  return {
    authentication: {
      type: 'device_app_attest',
      end_user: { source: 'app_install' },
      app_attest: {
        team_id: teamId,
        bundle_id: bundleId,
        environments: allowsDevelopment ? ['production', 'development'] : ['production'],
      },
    },
    routing,
    limits: MOBILE_LIMITS,
  };
}
