import type { Failure } from '../program/failure.js';

/** The context of a refusal: what was typed, and whose key was sent. */
export interface Place {
  /** As `provider add`. */
  readonly command: string;
  /** First argument, as typed: usually the name of the subject of the command. */
  readonly subject?: string | undefined;
  /** Options of the command, as `--base-url`. */
  readonly options?: readonly string[];
  /** Whether the key is that of GW_MANAGEMENT_KEY. */
  readonly hasEnvironmentKey: boolean;
}

type Refusal = Pick<Failure, 'code' | 'message' | 'details'>;
type Advice = string | ((place: Place, refusal: Refusal) => string | null);

/** The command that lists what a group of commands is about. */
function listOf({ command, subject }: Place): string {
  const nested = /^app (?:key|user)\b/.exec(command)?.[0];
  if (nested !== undefined) return `gw ${nested} list ${subject ?? '<app>'}`;
  const [group = ''] = command.split(' ');
  if (group === 'provider' || group === 'provider-gateway' || group === 'webhook') return `gw ${group} list`;
  return 'gw app list';
}

const changedMeanwhile = ({ command }: Place) =>
  command === 'apply'
    ? 'Someone else changed it at the same time. Run gw plan again, then gw apply.'
    : 'Someone else changed it at the same time. Check it, then repeat the command.';

const alreadyCreated = (place: Place) =>
  `See what was created: ${listOf(place)}. To replace a lost key: gw app key add`;

const waiting = (_place: Place, { details }: Refusal) => {
  const { retryAfterSeconds } = Object(details);
  return `Wait ${typeof retryAfterSeconds === 'number' ? `${retryAfterSeconds} s` : 'a moment'}, then run the command again.`;
};

const ADVICE: Readonly<Record<string, Advice>> = {
  auth_required: ({ command, hasEnvironmentKey, options = [] }) => {
    if (command === 'deployment connect')
      return 'Give a management key of this gateway, or connect without one and log in.';
    if (command === 'account logout') return 'The saved key is no longer valid. Forget it: gw profile remove <profile>';
    if (hasEnvironmentKey) return 'The key in GW_MANAGEMENT_KEY is refused: set another, or unset it and log in.';
    return options.includes('--key-stdin') && command === 'account login'
      ? 'Give a management key of this gateway, or log in without --key-stdin.'
      : 'Log in again: gw account login';
  },
  grant_insufficient: ({ hasEnvironmentKey }) =>
    hasEnvironmentKey
      ? 'The key in GW_MANAGEMENT_KEY may only read: set one that may write.'
      : 'The saved key may only read: log in again (gw account login), or save a key that may write.',
  forbidden: 'Use a key whose owner has a sufficient role in the account.',
  account_expired: 'Use another account: gw account login',
  session_required: 'Do this in the console, signed in.',
  app_not_found: 'List them: gw app list',
  not_found: (place) => (place.command === 'api' ? null : `List them: ${listOf(place)}`),
  provider_not_found: 'List them: gw provider list',
  endpoint_not_found: ({ subject }) => `See its endpoints: gw app show ${subject ?? '<app>'}`,
  invalid_request: ({ options = [] }, { message }) => {
    const [field = ''] = message.split(/[.:]/);
    const option = `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return options.includes(option) ? `Correct ${option}.` : null;
  },
  pricing_not_configured: 'Give the model a price: gw provider update <provider> --pricing …',
  provider_not_supported_by_gateway: 'Use a key of the provider itself, without --provider-gateway.',
  provider_key_invalid: ({ command, subject }) =>
    command === 'provider test'
      ? `Replace its key: gw provider rotate-key ${subject ?? '<provider>'}`
      : 'Check the key in the account at the provider, then give it again.',
  unsupported_snippet: 'Name another provider or endpoint: --provider, --endpoint.',
  app_revision_conflict: changedMeanwhile,
  conflict: (place) => {
    if (place.command === 'webhook create') return `Delete one: ${listOf(place)}`;
    if (place.command === 'webhook resend') return `Enable it: gw webhook edit ${place.subject} --status enabled`;
    return changedMeanwhile(place);
  },
  handle_taken: 'Give another handle. Those in use: gw app list',
  slug_taken: 'Give another slug: --slug <slug>. Those in use: gw provider list',
  gateway_in_use: 'Remove the providers behind it first: gw provider list',
  provider_gateway_managed: 'Replace the token of its provider gateway: gw provider-gateway rotate-key <gateway>',
  operation_denied: 'Run the command again for a new approval.',
  operation_expired: 'Run the command again for a new approval.',
  operation_mismatch: 'Run the command again for a new approval.',
  resource_receipt_expired: alreadyCreated,
  resource_key_unavailable: alreadyCreated,
  billing_payment_required: 'See the plan in the console.',
  billing_plan_limit_reached: 'See the plan in the console.',
  payload_too_large: 'Send a smaller request.',
  rate_limited: waiting,
  provider_unavailable: 'Find out why: gw doctor',
  service_unavailable: 'Find out why: gw doctor',
  internal_error: (_place, { details }) => {
    const { requestId } = Object(details);
    const where = typeof requestId === 'string' ? ` for the request ${requestId}` : '';
    return `Run the command again. If it fails again, look in the log of the gateway${where}.`;
  },
};

/** What to do about a refusal of the gateway, by its code and context; null: its message is enough. */
export function adviceOn(refusal: Refusal, place: Place): string | null {
  const advice = Object.hasOwn(ADVICE, refusal.code) ? ADVICE[refusal.code] : undefined;
  return typeof advice === 'function' ? advice(place, refusal) : (advice ?? null);
}

/** What to do about a refused call of an application. @param app as typed. */
export function adviceOnCall(refusal: Refusal, app: string): string | null {
  const shown = `gw app show ${app}`;
  const advice: Readonly<Record<string, string>> = {
    auth_required: `GW_APP_KEY holds no valid key of this application: gw app key add ${app}`,
    app_disabled: `Enable it: gw app update ${app} --status active`,
    model_not_allowed: `See what it allows: ${shown}`,
    path_not_allowed: `See what it allows: ${shown}`,
    max_output_tokens_exceeded: `See its ceiling: ${shown}`,
    endpoint_not_found: `See its endpoints: ${shown}`,
    ...(refusal.message.endsWith(': header is required') && { invalid_request: 'Name the end user: --user <id>' }),
    app_budget_exhausted: `See its limits: ${shown}`,
    billing_request_quota_exceeded: 'See the plan in the console.',
    provider_not_configured: 'Add the provider: gw provider add',
    provider_disabled: 'Enable it: gw provider update <provider> --status active',
    provider_key_invalid: 'Replace its key: gw provider rotate-key <provider>',
    provider_error: 'Test the provider: gw provider test <provider>',
    app_rate_limited: waiting({ command: 'app call', hasEnvironmentKey: false }, refusal),
  };
  return Object.hasOwn(advice, refusal.code)
    ? (advice[refusal.code] ?? null)
    : adviceOn(refusal, { command: 'app call', subject: app, hasEnvironmentKey: false });
}
