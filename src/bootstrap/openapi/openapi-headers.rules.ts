import { headerReference, setsCookie } from '../../common/http/answer-headers.js';

type Headers = Readonly<Record<string, object>>;

interface Answer {
  description?: string;
  headers?: Record<string, object>;
  content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}

/** The used part of an operation. */
export interface HeadedOperation {
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly responses: Record<string, Answer>;
}

/** Schemes whose 401 carries `WWW-Authenticate`. */
const CHALLENGING = ['ManagementBearer', 'ConsoleSession', 'MetricsBearer'];
/** Statuses of body refusals, which precede the session check. */
const BEFORE_SESSIONS: ReadonlySet<string> = new Set(['413', '415']);
/**
 * The error without `Retry-After`: the recovery time of an identity provider is unknown. Source:
 * docs/reference/application-api.md#errors.
 */
const WITHOUT_RETRY_AFTER = '`issuer_verification_unavailable`';
const ERROR_RESPONSE = '#/components/schemas/ErrorResponse';

/**
 * Documents the response headers of an operation, in addition to those of its decorators. A default response is a
 * provider's and may have any status, so every status gets its headers.
 *
 * Source: docs/reference/management-api.md#openapi-document, docs/reference/management-api.md#requests-and-bodies,
 * docs/reference/management-api.md#management-credentials, docs/reference/management-api.md#sessions-and-cookies,
 * docs/reference/application-api.md#routes, docs/reference/application-api.md#server-timing.
 */
export function addAnswerHeaders({ security = [], responses }: HeadedOperation): void {
  const schemes = new Set(security.flatMap((one) => Object.keys(one)));
  const isDemanded = schemes.size > 0 && security.every((one) => Object.keys(one).length > 0);
  const isChallenging = isDemanded && CHALLENGING.some((scheme) => schemes.has(scheme));
  const looksAtSession = schemes.has('ConsoleSession') || Object.values(responses).some(setsSession);
  for (const [status, answer] of Object.entries(responses)) {
    const isUnproven = isDemanded && status === '401';
    const mayRenew = looksAtSession && !isUnproven && !BEFORE_SESSIONS.has(status);
    const headers = {
      ...ofRefusal(status, answer),
      ...(isUnproven && isChallenging ? { 'WWW-Authenticate': headerReference('Challenge') } : {}),
      ...(status === '403' && schemes.has('ManagementBearer')
        ? { 'WWW-Authenticate': headerReference('ScopeChallenge') }
        : {}),
      ...(mayRenew ? setsCookie('RenewedSessionCookie') : {}),
      ...responses.default?.headers,
      ...answer.headers,
    };
    if (Object.keys(headers).length > 0) answer.headers = headers;
  }
}

function ofRefusal(status: string, { description = '', content = {} }: Answer): Headers {
  if (!Object.values(content).some(({ schema }) => schema?.$ref === ERROR_RESPONSE)) return {};
  if (status === '415') return { 'Accept-Encoding': headerReference('AcceptEncoding') };
  if (status !== '429' && status !== '503') return {};
  const isKnown = !description.includes(WITHOUT_RETRY_AFTER);
  return { 'Retry-After': headerReference(isKnown ? 'RetryAfter' : 'OptionalRetryAfter') };
}

function setsSession({ headers = {} }: Answer): boolean {
  const cookie = headers['Set-Cookie'];
  return cookie !== undefined && '$ref' in cookie && cookie.$ref === headerReference('SessionCookie').$ref;
}
