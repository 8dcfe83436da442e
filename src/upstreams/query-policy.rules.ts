import { type GatewayError, invalidRequest } from '../common/errors/gateway-error.js';

/**
 * Refused parameters with the reason, in the spelling of the provider that reads them. Google APIs read most of them
 * from every request (https://cloud.google.com/apis/docs/system-parameters); frameworks and gateways in front of other
 * providers read the rest.
 */
const REFUSED: readonly (readonly [problem: string, names: readonly string[]])[] = [
  [
    'carries a credential; the gateway sends its own',
    [
      ...['access_token', 'oauth_token', 'bearer_token', 'auth_token', 'id_token', 'api_token', 'token', 'auth'],
      ...['authorization', 'x-api-key', 'subscription-key', 'ocp-apim-subscription-key', 'client_secret', 'secret'],
      ...['password', 'signature', 'sig', 'access_key', 'secret_key', 'auth_key'],
    ],
  ],
  [
    'names an account or a project; the gateway calls with its own',
    [
      ...['quotaUser', 'userProject', 'userIp', 'project', 'project_id', 'billing_project', 'consumer_project'],
      ...['organization', 'organization_id', 'org', 'org_id', 'openai-organization', 'openai-project', 'group_id'],
      ...['account', 'account_id', 'workspace', 'workspace_id', 'tenant', 'tenant_id', 'on_behalf_of'],
    ],
  ],
  ['stands for headers, which are checked as headers', ['httpHeaders']],
  ['names another method', ['httpMethod', 'method', 'method_override', 'http_method_override']],
  [
    'omits parts of the answer, including its usage',
    ['fields', 'field_mask', 'mask', 'read_mask', 'response_mask', 'update_mask', 'select'],
  ],
  [
    'changes the format of the message, which then cannot be metered',
    ['callback', 'jsonp', 'ct', 'xgafv', 'response_format', 'uploadType', 'upload_protocol', 'upload_id'],
  ],
  ['stands for the body, which is checked as a body', ['req', 'model']],
];

/** Prefixes of header names that some servers also read from the query. */
const HEADER_BEGINNINGS = ['xgoog', 'xhttp', 'xmethod', 'xapi', 'xamz', 'xms', 'xopenai', 'xforwarded'];
const HEADER_PROBLEM = 'stands for a header, which is checked as a header';

/** SDKs send these by default; they are removed instead of refused. */
const REMOVED: ReadonlySet<string> = new Set(['key', 'apikey']);
/** The parameter for the format of an answer, and the values that can be metered. */
const FORMAT = 'alt';
const METERED_FORMATS: ReadonlySet<string> = new Set(['sse', 'json']);

/** Printable ASCII except `#`, which starts a fragment, and `;`, which some servers treat as `&`. */
const PLAIN_QUERY = /^[!"$-:<-~]*$/;
/** Characters that a server could read differently when it truncates or decodes the name again. */
const UNCLEAR_NAME = /[\p{Cc}\p{Cf}%]/u;
const ARRAY_SUFFIX = /(?<=.)\[.*$/s;
const PUNCTUATION = /[^\p{L}\p{N}]+/gu;

interface Refusal {
  readonly name: string;
  readonly problem: string;
}

const REFUSALS: ReadonlyMap<string, Refusal> = new Map(
  REFUSED.flatMap(([problem, names]) => names.map((name) => [folded(name), { name, problem }])),
);

/**
 * Validates a query and removes the keys in it. The remaining bytes and their order do not change.
 *
 * Names are compared without percent escapes, letter case and punctuation (`$alt`, `api%5Fkey`, `User-Project`,
 * `fields[]`), because providers differ in which spellings they treat as equal.
 *
 * @param rawQuery the part after `?`, percent-encoded; may be empty.
 * @throws invalid_request naming a parameter that would change the billed account, the operation or the content of the
 *   answer; also for a query with more than one reading.
 */
export function validateQuery(rawQuery: string): string {
  if (rawQuery === '' || rawQuery === 'alt=sse') return rawQuery;
  if (!PLAIN_QUERY.test(rawQuery)) throw unclear('has characters that must be percent-encoded');
  let hasFormat = false;
  return rawQuery
    .split('&')
    .filter((parameter) => {
      const equals = parameter.indexOf('=');
      const name = folded(decodedName(equals === -1 ? parameter : parameter.slice(0, equals)));
      const value = decoded(equals === -1 ? '' : parameter.slice(equals + 1));
      if (REMOVED.has(name)) return false;
      if (name === FORMAT) {
        if (hasFormat) throw refused(FORMAT, 'is named twice');
        if (!METERED_FORMATS.has(value)) throw refused(FORMAT, `must be ${[...METERED_FORMATS].join(' or ')}`);
        hasFormat = true;
      }
      requireHarmless(name);
      return true;
    })
    .join('&');
}

function requireHarmless(name: string): void {
  const refusal = REFUSALS.get(name);
  if (refusal !== undefined) throw refused(refusal.name, refusal.problem);
  if (name.startsWith('x') && HEADER_BEGINNINGS.some((beginning) => name.startsWith(beginning))) {
    throw refused(name, HEADER_PROBLEM);
  }
}

/** Folds letter case as `CheckedMembers` does: upper case first, so that the Kelvin sign equals `k`. */
function folded(name: string): string {
  const plain = name.normalize('NFKC').replace(ARRAY_SUFFIX, '').replace(PUNCTUATION, '');
  return plain.toUpperCase().toLowerCase();
}

function decodedName(encoded: string): string {
  const name = decoded(encoded);
  if (UNCLEAR_NAME.test(name)) throw unclear('has a parameter name with control characters or double escapes');
  return name;
}

function decoded(encoded: string): string {
  if (!encoded.includes('%')) return encoded;
  try {
    return decodeURIComponent(encoded);
  } catch (cause) {
    if (cause instanceof URIError) throw unclear('has a broken percent escape');
    throw cause;
  }
}

function refused(name: string, problem: string): GatewayError {
  return invalidRequest(`query.${name}`, problem, 'query_parameter_refused');
}

function unclear(problem: string): GatewayError {
  return invalidRequest('query', problem, 'query_unclear');
}
