import type { Secret } from '../../common/log/secret.js';
import type { AddressRange } from '../outbound/address.rules.js';
import { parseTrustedHosts, type TrustedHosts } from '../outbound/trusted-hosts.rules.js';
import { DeploymentSettings } from './deployment-settings.js';
import {
  addressRanges,
  baseAddress,
  bearerToken,
  brandedSecret,
  declaredSettings,
  flag,
  hostNames,
  int,
  oneOf,
  origin,
  origins,
  positive,
  Setting,
  SettingProblem,
  secretOfAtLeast,
  text,
  webAddress,
} from './setting.js';

/** When an admission is synced to disk: in the background, or before its call is sent. */
const JOURNAL_SYNCS = ['interval', 'always'] as const;

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/**
 * Every setting of the service, one property per variable, validated before the start. The vault reads its own
 * variables, because an invalid one must not stop the service.
 */
export class Environment extends DeploymentSettings {
  @Setting({
    description:
      'On an empty deployment: creates one account owned by a service identity and accepts this management key. Ignored once any account exists.',
    parse: brandedSecret({ brand: 'gw_mgmt_', min: 22, max: 200 }),
    fallbackText: 'unset',
  })
  readonly BOOTSTRAP_MANAGEMENT_KEY: Secret | undefined;

  @Setting({
    description:
      'Signs gateway tokens: at least 32 bytes, the same on every instance. Required with `DATABASE_URL`; otherwise one is generated in `DATA_DIR`.',
    parse: secretOfAtLeast(32),
    fallbackText: 'generated with the embedded database',
  })
  readonly JWT_SECRET: Secret | undefined;

  @Setting({
    description:
      'The signing secret before `JWT_SECRET`. Tokens that it signed stay valid until they expire, within an hour.',
    parse: secretOfAtLeast(32),
    fallbackText: 'unset',
  })
  readonly JWT_SECRET_PREVIOUS: Secret | undefined;

  @Setting({
    description:
      'Signs the console’s cookies and seals the answers stored for retries of creations: at least 32 bytes, the same on every instance, different from `JWT_SECRET`. Required with `DATABASE_URL`; otherwise one is generated in `DATA_DIR`.',
    parse: secretOfAtLeast(32),
    fallbackText: 'generated with the embedded database',
  })
  readonly AUTH_SECRET: Secret | undefined;

  @Setting({
    description:
      'The secret before `AUTH_SECRET`, still accepted. Keep it for a week, in which each session in use is signed again.',
    parse: secretOfAtLeast(32),
    fallbackText: 'unset',
  })
  readonly AUTH_SECRET_PREVIOUS: Secret | undefined;

  @Setting({
    description: 'Whether people may register after the first person has. Otherwise they need an invitation.',
    parse: flag(),
    fallback: false,
  })
  readonly ALLOW_ADDITIONAL_REGISTRATIONS: boolean;

  @Setting({
    description:
      'Client id at Google, for sign-in with Google; needs `GOOGLE_CLIENT_SECRET`. Its redirect URI is `<PUBLIC_URL>/v1/auth/callback/google`.',
    parse: text(),
    fallbackText: 'unset: no sign-in with Google',
  })
  readonly GOOGLE_CLIENT_ID: string | undefined;

  @Setting({
    description: 'Client secret at Google; needs `GOOGLE_CLIENT_ID`.',
    parse: secretOfAtLeast(8),
    fallbackText: 'unset',
  })
  readonly GOOGLE_CLIENT_SECRET: Secret | undefined;

  @Setting({
    description:
      'OpenID provider to use instead of Google, such as one for tests. Plain http needs the host in `TRUSTED_PRIVATE_HOSTS`.',
    parse: origin(),
    fallback: 'https://accounts.google.com',
  })
  readonly GOOGLE_ISSUER_URL: string;

  @Setting({
    description:
      'Terms of service that people agree to when they register; shown when `PRIVACY_POLICY_URL` is set too.',
    parse: webAddress(),
    fallbackText: 'unset',
  })
  readonly TERMS_OF_SERVICE_URL: string | undefined;

  @Setting({
    description:
      'Privacy policy that people agree to when they register; shown when `TERMS_OF_SERVICE_URL` is set too.',
    parse: webAddress(),
    fallbackText: 'unset',
  })
  readonly PRIVACY_POLICY_URL: string | undefined;

  @Setting({
    description:
      'PEM file of the root certificates for device attestation, instead of the vendor’s. For tests and private fleets.',
    parse: text(),
    fallbackText: 'unset: the vendor’s root',
  })
  readonly APP_ATTEST_ROOT_CA_FILE: string | undefined;

  @Setting({
    description:
      'Hosts, addresses or CIDR ranges, separated by commas, that outbound calls may reach even if private or plain http. Cloud metadata addresses are always refused; naming one here is logged.',
    parse: trustedHosts,
    fallback: parseTrustedHosts(''),
    fallbackText: 'empty',
  })
  readonly TRUSTED_PRIVATE_HOSTS: TrustedHosts;

  @Setting({
    description:
      'Addresses or CIDR ranges, separated by commas, of the proxies in front of the gateway. Only they may set the client’s address in `X-Forwarded-For`.',
    parse: addressRanges(),
    fallback: [],
    fallbackText: 'empty: the peer is the client',
  })
  readonly TRUSTED_PROXIES: readonly AddressRange[];

  @Setting({
    description:
      'Origins, separated by commas, that may send requests to `/mcp`, `/oauth/token` and `/oauth/revoke` besides the console’s. Requests without `Origin` are always allowed; no origin gets CORS headers.',
    parse: origins(),
    fallback: [],
    fallbackText: 'empty',
  })
  readonly MCP_ALLOWED_ORIGINS: readonly string[];

  @Setting({
    description:
      'Whether OAuth clients, such as AI clients of `/mcp`, may request consent. Needs `PUBLIC_URL`, which is the issuer.',
    parse: flag(),
    fallback: true,
  })
  readonly OAUTH_ENABLED: boolean;

  @Setting({
    description:
      'Whether clients may use the address of their metadata document as `client_id`. Otherwise only those in `OAUTH_CLIENTS_FILE` are accepted.',
    parse: flag(),
    fallback: true,
  })
  readonly OAUTH_CLIENT_METADATA_ENABLED: boolean;

  @Setting({
    description: 'Host names, separated by commas, whose metadata documents are accepted.',
    parse: hostNames(),
    fallback: [],
    fallbackText: 'empty: those of every public host',
  })
  readonly OAUTH_CLIENT_HOSTS: readonly string[];

  @Setting({
    description:
      'JSON file with a list of registered clients, `{client_id, client_name, redirect_uris}`; they take precedence over metadata documents.',
    parse: text(),
    fallbackText: 'unset: none',
  })
  readonly OAUTH_CLIENTS_FILE: string | undefined;

  @Setting({
    description: 'Timeout for a provider’s response headers, in seconds.',
    parse: positive(3600),
    fallback: 120,
  })
  readonly PROVIDER_TTFB_TIMEOUT_SECONDS: number;

  @Setting({
    description:
      'Timeout between two chunks of a provider’s answer, in seconds; then the answer is cut. The whole answer has no timeout. 0: none.',
    parse: int(0, 86_400),
    fallback: 600,
  })
  readonly PROVIDER_SILENCE_TIMEOUT_SECONDS: number;

  @Setting({
    description:
      'How long a client may read nothing of a waiting answer, in seconds; then its connection is cut, as if it had disconnected.',
    parse: int(1, 86_400),
    fallback: 300,
  })
  readonly CLIENT_STALL_TIMEOUT_SECONDS: number;

  @Setting({
    description:
      'Longest time that the start of a stream without content is held while a fallback could replace it, in milliseconds. 0: not held, so no fallback replaces a stream.',
    parse: int(0, 60_000),
    fallback: 2_000,
  })
  readonly FALLBACK_HOLD_MS: number;

  @Setting({
    description: 'Most connections of this process to one provider instance; a stream occupies one.',
    parse: int(1, 100_000),
    fallback: 12_000,
  })
  readonly PROVIDER_MAX_CONNECTIONS: number;

  @Setting({
    description:
      'Base address of upstream gateways of the kind `cf_aig`, for your own mirror or relay. A private host must be in `TRUSTED_PRIVATE_HOSTS`.',
    parse: baseAddress(),
    fallback: 'https://gateway.ai.cloudflare.com/v1/',
  })
  readonly CF_AIG_BASE_URL: string;

  @Setting({
    description: 'The same for upstream gateways of the kind `vercel`.',
    parse: baseAddress(),
    fallback: 'https://ai-gateway.vercel.sh/',
  })
  readonly VERCEL_AI_GATEWAY_BASE_URL: string;

  @Setting({
    description:
      'After SIGTERM: how long calls are still accepted while `readyz` answers 503, so that load balancers stop sending them, in seconds.',
    parse: int(0, 3600),
    fallback: 3,
  })
  readonly STOP_DELAY_SECONDS: number;

  @Setting({
    description: 'After that: how long open responses may take to finish, in seconds.',
    parse: int(0, 3600),
    fallback: 30,
  })
  readonly DRAIN_TIMEOUT_SECONDS: number;

  @Setting({
    description: 'After a client disconnects: how long the provider’s answer is read for its usage, in seconds.',
    parse: int(0, 3600),
    fallback: 30,
  })
  readonly ABORT_DRAIN_SECONDS: number;

  @Setting({
    description: 'How many such answers are read concurrently; more are cancelled.',
    parse: int(0, 100_000),
    fallback: 500,
  })
  readonly ABORT_DRAIN_MAX: number;

  @Setting({
    description:
      'When a call in the usage journal is synced to disk: `interval`, every JOURNAL_SYNC_MS in the background, or `always`, before it is sent to its provider. A killed process loses nothing with either; with `always` a power loss loses no call either, and each call waits for the disk.',
    parse: oneOf(JOURNAL_SYNCS),
    fallback: 'interval',
  })
  readonly JOURNAL_SYNC: (typeof JOURNAL_SYNCS)[number];

  @Setting({
    description:
      'How often the usage journal is synced to disk in the background, in milliseconds. A power loss loses at most this much; a killed process loses nothing.',
    parse: int(1, 60_000),
    fallback: 200,
  })
  readonly JOURNAL_SYNC_MS: number;

  @Setting({
    description: 'Most usage events that may wait in the journal for the database; beyond it new calls get 503.',
    parse: int(1000, 100_000_000),
    fallback: 1_000_000,
  })
  readonly JOURNAL_MAX_PENDING: number;

  @Setting({
    description:
      'Bearer token of `/metrics`: at least 16 characters of printable ASCII. Unset: only requests from this machine are allowed, without a token.',
    parse: bearerToken(16),
    fallbackText: 'unset: this machine alone',
  })
  readonly METRICS_TOKEN: Secret | undefined;

  @Setting({
    description:
      'Processes that share the port on this machine. More than one needs `REDIS_URL`, as several instances do.',
    parse: int(1, 256),
    fallback: 1,
  })
  readonly WORKERS: number;

  @Setting({
    description:
      'JSON file with plans and the accounts that have them, for operators who resell. Unset: no account is limited.',
    parse: text(),
    fallbackText: 'unset: no plan limits',
  })
  readonly PLANS_FILE: string | undefined;

  @Setting({
    description:
      'Base address of an OpenTelemetry collector (OTLP over HTTP) that receives a trace of each provider call.',
    parse: baseAddress(),
    fallbackText: 'unset: no traces',
  })
  readonly OTEL_EXPORTER_OTLP_ENDPOINT: string | undefined;

  @Setting({ description: 'The lowest level of log lines to write.', parse: oneOf(LOG_LEVELS), fallback: 'info' })
  readonly LOG_LEVEL: (typeof LOG_LEVELS)[number];
}

/**
 * Settings with which the service does not start. The message names variables; of values only addresses, ports and paths,
 * where these are valid and something else is in the way.
 */
export class EnvironmentError extends Error {}

/**
 * Reads and validates every declared variable.
 *
 * @param source usually `process.env`.
 * @throws EnvironmentError with every invalid variable and its expected form.
 */
export function loadEnvironment(source: Readonly<Record<string, string | undefined>>): Environment {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const setting of declaredSettings()) {
    const raw = source[setting.name];
    if (raw === undefined || raw.trim() === '') {
      values[setting.name] = setting.fallback;
      continue;
    }
    try {
      values[setting.name] = setting.parse(raw);
    } catch (error) {
      if (!(error instanceof SettingProblem)) throw error;
      problems.push(`${setting.name} ${error.message}`);
    }
  }
  if ((values.GOOGLE_CLIENT_ID === undefined) !== (values.GOOGLE_CLIENT_SECRET === undefined)) {
    problems.push('GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET must be set together');
  }
  if (problems.length > 0) throw new EnvironmentError(problems.join('\n'));
  return Object.freeze(Object.assign(new Environment(), values));
}

/** The only place that reads `process.env`. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

function trustedHosts(value: string): TrustedHosts {
  try {
    return parseTrustedHosts(value);
  } catch {
    throw new SettingProblem('must be hosts, addresses or CIDR ranges separated by commas');
  }
}
