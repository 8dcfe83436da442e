import type { Secret } from '../../common/log/secret.js';
import { type MailSender, parseMailFrom, parseSmtpUrl, type SmtpServer } from '../mail/smtp-settings.rules.js';
import type { AddressRange } from '../outbound/address.rules.js';
import {
  type EgressProxy,
  type NoProxy,
  parseEgressProxy,
  parseNoProxy,
} from '../outbound/egress/egress-proxy.rules.js';
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
      'On an empty deployment, creates one account owned by a service identity and accepts this management key. Ignored once any account exists.',
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
    description: 'The previous `JWT_SECRET`, which is still accepted. Keep it for an hour.',
    parse: secretOfAtLeast(32),
    fallbackText: 'unset',
  })
  readonly JWT_SECRET_PREVIOUS: Secret | undefined;

  @Setting({
    description:
      'Signs the console’s cookies and seals answers kept for retries: at least 32 bytes, the same on every ' +
      'instance, different from `JWT_SECRET`. Required with `DATABASE_URL`; otherwise one is generated in `DATA_DIR`.',
    parse: secretOfAtLeast(32),
    fallbackText: 'generated with the embedded database',
  })
  readonly AUTH_SECRET: Secret | undefined;

  @Setting({
    description: 'The previous `AUTH_SECRET`, which is still accepted. Keep it for a week.',
    parse: secretOfAtLeast(32),
    fallbackText: 'unset',
  })
  readonly AUTH_SECRET_PREVIOUS: Secret | undefined;

  @Setting({
    description: 'Whether people may register after the first one, without an invitation.',
    parse: flag(),
    fallback: false,
  })
  readonly ALLOW_ADDITIONAL_REGISTRATIONS: boolean;

  @Setting({
    description:
      'Client id at Google, for signing in; needs `GOOGLE_CLIENT_SECRET`. Its redirect URI is `<PUBLIC_URL>/v1/auth/callback/google`.',
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
    description: 'OpenID provider in place of Google, for tests. Plain http needs the host in `TRUSTED_PRIVATE_HOSTS`.',
    parse: origin(),
    fallback: 'https://accounts.google.com',
  })
  readonly GOOGLE_ISSUER_URL: string;

  @Setting({
    description: 'Terms of service that people accept when they register; shown if `PRIVACY_POLICY_URL` is set too.',
    parse: webAddress(),
    fallbackText: 'unset',
  })
  readonly TERMS_OF_SERVICE_URL: string | undefined;

  @Setting({
    description: 'Privacy policy that people accept when they register; shown if `TERMS_OF_SERVICE_URL` is set too.',
    parse: webAddress(),
    fallbackText: 'unset',
  })
  readonly PRIVACY_POLICY_URL: string | undefined;

  @Setting({
    description:
      'PEM file of certificates that device attestation trusts instead of the vendor’s root, for tests and private fleets; genuine devices are then refused.',
    parse: text(),
    fallbackText: 'unset: the vendor’s root',
  })
  readonly APP_ATTEST_ROOT_CA_FILE: string | undefined;

  @Setting({
    description:
      'PEM file of certificates whose keys Android key attestation trusts instead of the vendor’s roots, for tests and private fleets; genuine devices are then refused.',
    parse: text(),
    fallbackText: 'unset: the vendor’s roots',
  })
  readonly ANDROID_ATTESTATION_ROOTS_FILE: string | undefined;

  @Setting({
    description:
      'List of revoked keys of Android key attestation, read every 20 minutes while an application accepts such keys. Plain http needs the host in `TRUSTED_PRIVATE_HOSTS`.',
    parse: webAddress(),
    fallback: 'https://android.googleapis.com/attestation/status',
  })
  readonly ANDROID_REVOCATION_URL: string;

  @Setting({
    description:
      '`stale_24h`: a list that is older than 24 hours stops registrations of Android keys. `closed`: one older than an hour, or none, does. `off`: no list is read, and leaked keys pass.',
    parse: oneOf(['stale_24h', 'closed', 'off']),
    fallback: 'stale_24h',
  })
  readonly ANDROID_REVOCATION_LIST: 'stale_24h' | 'closed' | 'off';

  @Setting({
    description:
      'The vendor’s service that decodes tokens of Play Integrity. Plain http needs the host in `TRUSTED_PRIVATE_HOSTS`.',
    parse: webAddress(),
    fallback: 'https://playintegrity.googleapis.com/',
  })
  readonly PLAY_INTEGRITY_BASE_URL: string;

  @Setting({
    description:
      'Where service accounts get the access tokens for it, and the audience of what they sign; `token_uri` of an account is ignored.',
    parse: webAddress(),
    fallback: 'https://oauth2.googleapis.com/token',
  })
  readonly GOOGLE_OAUTH_TOKEN_URL: string;

  @Setting({
    description:
      'Server that sends mails, such as `smtps://user:password@mail.example.com`, or `smtp://` for STARTTLS, which ' +
      'a host of `TRUSTED_PRIVATE_HOSTS` need not offer. Needs `MAIL_FROM`.',
    parse: smtpServer,
    fallbackText: 'unset: no mail is sent',
  })
  readonly SMTP_URL: SmtpServer | undefined;

  @Setting({
    description: 'Sender of mails, such as `Gateway <gateway@example.com>`; needs `SMTP_URL`.',
    parse: mailSender,
    fallbackText: 'unset',
  })
  readonly MAIL_FROM: MailSender | undefined;

  @Setting({
    description:
      'Hosts, addresses or CIDR ranges, separated by commas, that outbound calls may reach although they are private or plain http. Cloud metadata addresses stay refused.',
    parse: trustedHosts,
    fallback: parseTrustedHosts(''),
    fallbackText: 'empty',
  })
  readonly TRUSTED_PRIVATE_HOSTS: TrustedHosts;

  @Setting({
    description:
      'Proxy for outbound calls to https addresses, by CONNECT: `http://[user:password@]host:port`, or `https://` for TLS to the proxy. `https_proxy`, if set, is read instead.',
    parse: parseEgressProxy,
    fallbackText: 'unset: called directly',
    isLowerCaseFirst: true,
  })
  readonly HTTPS_PROXY: EgressProxy | undefined;

  @Setting({
    description: 'The same for plain http addresses, by CONNECT too. `http_proxy`, if set, is read instead.',
    parse: parseEgressProxy,
    fallbackText: 'unset: called directly',
    isLowerCaseFirst: true,
  })
  readonly HTTP_PROXY: EgressProxy | undefined;

  @Setting({
    description:
      'What is called directly even if a proxy is set: `*`, or names with their subdomains, addresses or CIDR ' +
      'ranges, separated by commas, also `host:port`. Loopback always is. `no_proxy`, if set, is read instead.',
    parse: parseNoProxy,
    fallback: [],
    fallbackText: 'empty: loopback only',
    isLowerCaseFirst: true,
  })
  readonly NO_PROXY: NoProxy;

  @Setting({
    description:
      'Addresses or CIDR ranges of the proxies in front, separated by commas. Only they may name the client’s address, in `X-Forwarded-For`.',
    parse: addressRanges(),
    fallback: [],
    fallbackText: 'empty: the peer is the client',
  })
  readonly TRUSTED_PROXIES: readonly AddressRange[];

  @Setting({
    description:
      'Further origins, separated by commas, whose pages may call `/mcp`, `/oauth/token` and `/oauth/revoke`. No origin gets CORS headers.',
    parse: origins(),
    fallback: [],
    fallbackText: 'empty',
  })
  readonly MCP_ALLOWED_ORIGINS: readonly string[];

  @Setting({
    description:
      'Whether OAuth clients, such as AI clients of `/mcp`, may ask people for access. Needs `PUBLIC_URL`, which is the issuer.',
    parse: flag(),
    fallback: true,
  })
  readonly OAUTH_ENABLED: boolean;

  @Setting({
    description:
      'Whether clients may identify themselves by the address of their metadata document. Otherwise only those of `OAUTH_CLIENTS_FILE` are known.',
    parse: flag(),
    fallback: true,
  })
  readonly OAUTH_CLIENT_METADATA_ENABLED: boolean;

  @Setting({
    description: 'Hosts whose metadata documents are accepted, separated by commas.',
    parse: hostNames(),
    fallback: [],
    fallbackText: 'empty: those of every public host',
  })
  readonly OAUTH_CLIENT_HOSTS: readonly string[];

  @Setting({
    description:
      'JSON file with a list of registered clients, `{client_id, client_name, redirect_uris}`; it takes precedence over metadata documents.',
    parse: text(),
    fallbackText: 'unset: none',
  })
  readonly OAUTH_CLIENTS_FILE: string | undefined;

  @Setting({
    description:
      'Time within which a provider must send its response headers, in seconds; all targets of a named endpoint ' +
      'share it.',
    parse: positive(3600),
    fallback: 120,
  })
  readonly PROVIDER_TTFB_TIMEOUT_SECONDS: number;

  @Setting({
    description:
      'Time without data after which an answer that has begun is cut, in seconds; 0: never. The whole answer has no ' +
      'time limit.',
    parse: int(0, 86_400),
    fallback: 600,
  })
  readonly PROVIDER_SILENCE_TIMEOUT_SECONDS: number;

  @Setting({
    description: 'Time a client may read nothing from a waiting answer before its connection is closed, in seconds.',
    parse: int(1, 86_400),
    fallback: 300,
  })
  readonly CLIENT_STALL_TIMEOUT_SECONDS: number;

  @Setting({
    description:
      'Longest time the beginning of a stream without content is held back while a fallback could replace it, in milliseconds; 0: never.',
    parse: int(0, 60_000),
    fallback: 2_000,
  })
  readonly FALLBACK_HOLD_MS: number;

  @Setting({
    description: 'Maximum connections of this process to one provider; a stream occupies one.',
    parse: int(1, 100_000),
    fallback: 12_000,
  })
  readonly PROVIDER_MAX_CONNECTIONS: number;

  @Setting({
    description:
      'Base address of upstream gateways of the type `cf_aig`, for your own mirror or relay. A private host must be in `TRUSTED_PRIVATE_HOSTS`.',
    parse: baseAddress(),
    fallback: 'https://gateway.ai.cloudflare.com/v1/',
  })
  readonly CF_AIG_BASE_URL: string;

  @Setting({
    description: 'The same for the type `vercel`.',
    parse: baseAddress(),
    fallback: 'https://ai-gateway.vercel.sh/',
  })
  readonly VERCEL_AI_GATEWAY_BASE_URL: string;

  @Setting({
    description:
      'Time after SIGTERM during which calls are still accepted while `readyz` answers 503, so that load balancers stop sending them, in seconds.',
    parse: int(0, 3600),
    fallback: 3,
  })
  readonly STOP_DELAY_SECONDS: number;

  @Setting({
    description: 'Time after that for open answers to finish, in seconds.',
    parse: int(0, 3600),
    fallback: 30,
  })
  readonly DRAIN_TIMEOUT_SECONDS: number;

  @Setting({
    description: 'Time for which an answer is still read, to get its usage, after its client disconnected, in seconds.',
    parse: int(0, 3600),
    fallback: 30,
  })
  readonly ABORT_DRAIN_SECONDS: number;

  @Setting({
    description: 'Maximum number of answers that are read without a client at the same time; others are cancelled.',
    parse: int(0, 100_000),
    fallback: 500,
  })
  readonly ABORT_DRAIN_MAX: number;

  @Setting({
    description:
      'An event stream without news gets a comment (`: gateway`) every so many seconds, so that a silent provider does not look like a dead connection; 0 sends none.',
    parse: int(0, 3_600),
    fallback: 0,
  })
  readonly STREAM_HEARTBEAT_SECONDS: number;

  @Setting({
    description:
      'Memory of a process for answers that applications with `streams` keep. When it is full, the answer that ended first is dropped.',
    parse: int(1_048_576, 17_179_869_184),
    fallback: 67_108_864,
  })
  readonly STREAM_STORE_BYTES: number;

  @Setting({
    description:
      'When calls are synced to the disk: `interval`, in the background, or `always`, before they are sent. A ' +
      'killed process loses nothing with either; a power failure loses nothing with `always`.',
    parse: oneOf(JOURNAL_SYNCS),
    fallback: 'interval',
  })
  readonly JOURNAL_SYNC: (typeof JOURNAL_SYNCS)[number];

  @Setting({
    description: 'Interval of `interval`, in milliseconds. A power failure loses at most the calls of one interval.',
    parse: int(1, 60_000),
    fallback: 200,
  })
  readonly JOURNAL_SYNC_MS: number;

  @Setting({
    description: 'Maximum number of usage events that wait in the journal for Postgres; above it new calls get 503.',
    parse: int(1000, 100_000_000),
    fallback: 1_000_000,
  })
  readonly JOURNAL_MAX_PENDING: number;

  @Setting({
    description:
      'Bearer token of `/metrics`: at least 16 characters of printable ASCII. Without it requests from this machine are answered.',
    parse: bearerToken(16),
    fallbackText: 'unset: this machine only',
  })
  readonly METRICS_TOKEN: Secret | undefined;

  @Setting({
    description: 'Processes that share the port on this machine. More than one needs `REDIS_URL`.',
    parse: int(1, 256),
    fallback: 1,
  })
  readonly WORKERS: number;

  @Setting({
    description: 'JSON file with plans and their accounts, for operators who resell.',
    parse: text(),
    fallbackText: 'unset: no plan limits',
  })
  readonly PLANS_FILE: string | undefined;

  @Setting({
    description:
      'JSON file with prices of models, in the form that `GET /v1/admin/prices` answers; they replace those of the catalog or add to them.',
    parse: text(),
    fallbackText: 'unset: the built-in prices',
  })
  readonly PRICES_FILE: string | undefined;

  @Setting({
    description: 'Base address of an OpenTelemetry collector (OTLP over HTTP) for traces of provider calls.',
    parse: baseAddress(),
    fallbackText: 'unset: no traces',
  })
  readonly OTEL_EXPORTER_OTLP_ENDPOINT: string | undefined;

  @Setting({
    description: 'Lowest severity of log lines that are written.',
    parse: oneOf(LOG_LEVELS),
    fallback: 'info',
  })
  readonly LOG_LEVEL: (typeof LOG_LEVELS)[number];
}

/**
 * Settings with which the service does not start. The message names variables; it contains no values except valid
 * addresses, ports and paths.
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
    const { name, isLowerCaseFirst } = setting;
    const names = isLowerCaseFirst ? [name.toLowerCase(), name] : [name];
    const set = names.map((variable) => ({ variable, raw: source[variable] })).find(({ raw }) => isSet(raw));
    if (set?.raw === undefined) {
      values[name] = setting.fallback;
      continue;
    }
    const { variable, raw } = set;
    try {
      values[name] = setting.parse(raw);
    } catch (error) {
      if (!(error instanceof SettingProblem)) throw error;
      problems.push(`${variable} ${error.message}`);
    }
  }
  if ((values.GOOGLE_CLIENT_ID === undefined) !== (values.GOOGLE_CLIENT_SECRET === undefined)) {
    problems.push('GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET must be set together');
  }
  if ((values.SMTP_URL === undefined) !== (values.MAIL_FROM === undefined)) {
    problems.push('SMTP_URL and MAIL_FROM must be set together');
  }
  if (values.INTERNAL_URL !== undefined && Number(values.WORKERS) > 1) {
    problems.push('INTERNAL_URL must not be set where WORKERS is above 1: it names one process');
  }
  if (problems.length > 0) throw new EnvironmentError(problems.join('\n'));
  return Object.freeze(Object.assign(new Environment(), values));
}

/** The only place that reads `process.env`. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

function isSet(raw: string | undefined): boolean {
  return raw !== undefined && raw.trim() !== '';
}

function smtpServer(value: string): SmtpServer {
  return problemOf(() => parseSmtpUrl(value));
}

function mailSender(value: string): MailSender {
  return problemOf(() => parseMailFrom(value));
}

/** @throws SettingProblem whatever is thrown: its message does not repeat the value. */
function problemOf<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new SettingProblem(error instanceof Error ? error.message : 'is not valid');
  }
}

function trustedHosts(value: string): TrustedHosts {
  try {
    return parseTrustedHosts(value);
  } catch {
    throw new SettingProblem('must be hosts, addresses or CIDR ranges separated by commas');
  }
}
