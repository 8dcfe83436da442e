/** Codes the SDK has a name for; any other is `unknown` to its callers. */
const KNOWN_CODES: ReadonlySet<string> = new Set([
  ...['auth_required', 'attest_failed', 'issuer_token_rejected', 'issuer_claims_missing'],
  ...['issuer_verification_unavailable', 'auth_method_not_supported', 'billing_payment_required'],
  ...['billing_unavailable', 'billing_trial_expired', 'account_expired', 'billing_request_quota_exceeded'],
  ...['app_rate_limited', 'app_budget_exhausted', 'rate_limited', 'model_not_allowed', 'path_not_allowed'],
  ...['payload_too_large', 'provider_error', 'invalid_request', 'endpoint_not_found', 'app_not_found'],
  ...['app_disabled', 'internal_error'],
]);

/** Their `data.scope` names the owner of the limit; that of `rate_limited` has another meaning. */
const LIMIT_CODES: readonly string[] = ['app_rate_limited', 'app_budget_exhausted'];

type FlatData = Readonly<Record<string, string | number | boolean>>;

interface Envelope {
  readonly code: string;
  readonly message: string;
  readonly data: FlatData;
}

const UNDECODABLE: Envelope = { code: 'unknown', message: 'The answer could not be read.', data: {} };

/** A refusal as the SDK reports it to its application. */
export class MobileError extends Error {
  readonly code: string;
  readonly data: FlatData;

  /** @param retryAfterSeconds decimals allowed; absent when the header has no number above 0. */
  constructor(
    readonly status: number,
    { code, message, data }: Envelope,
    readonly retryAfterSeconds: number | undefined,
  ) {
    super(message);
    this.name = 'MobileError';
    this.code = code;
    this.data = data;
  }

  /** Whether the SDK considers it retryable. */
  get isRetryable(): boolean {
    return this.status === 429 || this.status >= 500 || this.code === 'issuer_verification_unavailable';
  }

  get limitScope(): unknown {
    return LIMIT_CODES.includes(this.code) ? this.data.scope : undefined;
  }

  get resetAt(): Date | undefined {
    return typeof this.data.resetAt === 'string' ? new Date(this.data.resetAt) : undefined;
  }

  /** The same refusal with less time to wait. */
  waiting(retryAfterSeconds: number): MobileError {
    return new MobileError(this.status, this, retryAfterSeconds);
  }
}

/** Reads a refusal. Anything but an exact envelope makes it unknown; its status remains. */
export async function errorOf(response: Response): Promise<MobileError> {
  const retryAfter = Number(response.headers.get('retry-after') ?? 0);
  const envelope = decodeEnvelope(await response.text());
  const code = KNOWN_CODES.has(envelope.code) ? envelope.code : 'unknown';
  return new MobileError(response.status, { ...envelope, code }, retryAfter > 0 ? retryAfter : undefined);
}

function decodeEnvelope(text: string): Envelope {
  const error = membersOf(membersOf(parsed(text)).error);
  const { code, message, data = {} } = error;
  if (typeof code !== 'string' || typeof message !== 'string' || !isFlat(data)) return UNDECODABLE;
  return { code, message, data };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** A single nested value, list or null inside discards all of it. */
function isFlat(data: unknown): data is FlatData {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return false;
  return Object.values(data).every((value) => ['string', 'number', 'boolean'].includes(typeof value));
}
