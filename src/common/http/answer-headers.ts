/** A response header, as the OpenAPI document describes it. */
interface AnswerHeader {
  readonly description: string;
  /** True when every response that lists the header has it. */
  readonly required: boolean;
  readonly schema: { readonly type: 'string' | 'integer'; readonly minimum?: number };
}

const TEXT = { type: 'string' } as const;
const SECONDS = { type: 'integer', minimum: 1 } as const;

/** The response headers in the OpenAPI document, by their name in `components.headers`. */
export const ANSWER_HEADERS = {
  RetryAfter: { description: 'Seconds after which the call may succeed.', required: true, schema: SECONDS },
  OptionalRetryAfter: {
    description: 'Seconds after which the call may succeed, if known.',
    required: false,
    schema: SECONDS,
  },
  RelayedRetryAfter: {
    description: 'Seconds after which the call may succeed. If the provider answered, its own value, if any.',
    required: false,
    schema: TEXT,
  },
  ServerTiming: {
    description:
      'Milliseconds spent on `auth`, `limiter` and until the provider’s first byte (`provider_ttfb`): `auth;dur=0.1, limiter;dur=0.2, provider_ttfb;dur=310.5`.',
    required: true,
    schema: TEXT,
  },
  NextCursor: {
    description: 'The `cursor` of the next page; absent from the last one.',
    required: false,
    schema: TEXT,
  },
  RelayedLocation: {
    description: 'The provider’s, if it is a public address of another host.',
    required: false,
    schema: TEXT,
  },
  Stream: {
    description:
      'Names the answer on `GET /v1/apps/{app}/streams/{stream}`; on every 2xx of an application with `streams`.',
    required: false,
    schema: TEXT,
  },
  StreamOffset: {
    description: 'Where the bytes begin in the answer.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  StreamState: {
    description:
      'At the time of the head: `live`, `complete`, `failed` (broke off or reports an error), `stopped` or `lost` (not all of it is kept).',
    required: true,
    schema: TEXT,
  },
  StreamLength: {
    description: 'Bytes of an answer that has ended.',
    required: false,
    schema: { type: 'integer', minimum: 0 },
  },
  RelayedRequestId: { description: 'The provider’s id of the call.', required: false, schema: TEXT },
  Challenge: {
    description: '`Bearer` and its `realm`; with `error="invalid_token"` if an invalid credential was sent.',
    required: true,
    schema: TEXT,
  },
  ScopeChallenge: {
    description: '`Bearer` with `error="insufficient_scope"`, where the access token of a connection was sent.',
    required: false,
    schema: TEXT,
  },
  AcceptEncoding: {
    description: 'The codings that the route takes, where the request had another `Content-Encoding`.',
    required: false,
    schema: TEXT,
  },
  ConsolePlace: { description: 'A path of the console.', required: true, schema: TEXT },
  SessionCookie: { description: 'Starts or ends the session of the browser.', required: true, schema: TEXT },
  RenewedSessionCookie: {
    description: 'Renews the browser’s session once a day, or clears the cookie of a finished third-party sign-in.',
    required: false,
    schema: TEXT,
  },
  OrganizationCookie: { description: 'The organization that the session acts in.', required: true, schema: TEXT },
  PasskeyCookie: {
    description: 'Binds the sign-in to this browser; sent only to `/v1/auth/sign-in/passkey`.',
    required: true,
    schema: TEXT,
  },
  SignInStateCookie: {
    description: 'Binds the sign-in to this browser; sent only to `/v1/auth/callback/google`.',
    required: true,
    schema: TEXT,
  },
} as const satisfies Record<string, AnswerHeader>;

/** The reference from a response to one of them. */
export function headerReference(name: keyof typeof ANSWER_HEADERS): { $ref: string } {
  return { $ref: `#/components/headers/${name}` };
}

/** The `headers` of a response that sets a cookie. */
export function setsCookie(name: keyof typeof ANSWER_HEADERS): { 'Set-Cookie': { $ref: string } } {
  return { 'Set-Cookie': headerReference(name) };
}
