import { shownName } from '../../common/errors/display-text.rules.js';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { memberPath } from '../../common/fields/config-values.js';
import type { Tool } from './tool.js';
import { isJsonObject } from './tool-maps.rules.js';

/** Ends of names of credentials, in lower case, without separators. */
const CREDENTIAL_NAME =
  /(?:secret|password|passwd|passphrase|token|credentials?|authorization|bearer|cookie|(?:api|access|private|secret|management|provider|signing)keys?)$/;

type Arguments = Readonly<Record<string, unknown>>;

/** Whether an argument of this name would hold a credential, such as `apiKey`, `api_key` or `clientSecret`. */
export function isCredentialName(name: string): boolean {
  return CREDENTIAL_NAME.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''));
}

/**
 * Whether the members of an object have names of the caller's choice, such as those of endpoints, headers and models.
 */
type IsMap = (path: readonly string[]) => boolean;

/**
 * Refuses arguments that are named like a credential, at any depth: what passes through a conversation is no longer
 * secret. The keys of maps are the caller's own words, and name nothing.
 *
 * @throws invalid_request naming the first of them, never its value.
 * Source: docs/reference/management-api.md#mcp-endpoint.
 */
export function refuseCredentials(sent: object, isMap: IsMap = () => false, path: readonly string[] = []): void {
  const isNamed = !Array.isArray(sent) && !isMap(path);
  for (const [name, value] of Object.entries(sent)) {
    const at = [...path, name];
    if (isNamed && isCredentialName(name)) {
      const shown = at.reduce((above, member) => (above === '' ? shownName(member) : memberPath(above, member)), '');
      throw invalidRequest(
        shown,
        'is named like a credential; none may pass through a conversation',
        'credential_sent',
      );
    }
    if (typeof value === 'object' && value !== null) refuseCredentials(value, isMap, at);
  }
}

/** The arguments of a call in the current form. */
export interface CurrentArguments {
  readonly sent: Arguments;
  /** The argument that holds them in the previous form; absent in the current one. */
  readonly below?: string;
}

/**
 * Reads the arguments of an earlier version of a tool as current ones.
 *
 * @throws invalid_request an argument next to the one that holds the members in the previous form.
 */
export function currentArguments(
  { formerly = {}, optional = {} }: Pick<Tool, 'formerly' | 'optional'>,
  sent: Arguments,
): CurrentArguments {
  const { names = {}, inside } = formerly;
  const renamed = { ...sent };
  for (const [now, before] of Object.entries(names)) {
    if (renamed[now] !== undefined || renamed[before] === undefined) continue;
    renamed[now] = renamed[before];
    delete renamed[before];
  }
  if (inside === undefined) return { sent: renamed };
  const { [inside.name]: held, ...others } = renamed;
  if (!isJsonObject(held) || !inside.holdsBody(held)) return { sent: renamed };
  const stranger = Object.keys(others).find((name) => !Object.hasOwn(optional, name));
  if (stranger !== undefined) throw invalidRequest(shownName(stranger), 'is not a known member');
  return { sent: { ...held, ...others }, below: inside.name };
}

/** @throws invalid_request unless the argument is text of one character at least. */
export function requireText(sent: Arguments, name: string): string {
  const value = sent[name];
  if (value === undefined) throw invalidRequest(name, 'is required');
  if (typeof value !== 'string' || value === '') throw invalidRequest(name, 'must be text');
  return value;
}

/** The arguments that the route has in its path, and all others. */
export interface SplitArguments {
  readonly named: Readonly<Record<string, string>>;
  readonly members: object;
}

/**
 * Splits the arguments of a tool, without `app`.
 *
 * @throws invalid_request a missing argument, an unknown one, or a confirmation of something else.
 */
export function splitArguments(
  {
    named: descriptions = {},
    optional = {},
    confirms,
    inside,
  }: Pick<Tool, 'named' | 'optional' | 'confirms' | 'inside'>,
  sent: Arguments,
): SplitArguments {
  const names = [...Object.keys(descriptions), ...Object.keys(optional).filter((name) => sent[name] !== undefined)];
  const named = Object.fromEntries(names.map((name) => [name, requireText(sent, name)]));
  if (confirms !== undefined && requireText(sent, 'confirm') !== named[confirms]) {
    throw invalidRequest('confirm', `must repeat ${confirms}`);
  }
  const taken = new Set(['app', ...Object.keys(named), ...(confirms === undefined ? [] : ['confirm'])]);
  const members = Object.fromEntries(Object.entries(sent).filter(([name]) => !taken.has(name)));
  return { named, members: inside === undefined ? members : membersInside(inside, members) };
}

function membersInside(name: string, { [name]: held, ...others }: Arguments): object {
  const [stranger] = Object.keys(others);
  if (stranger !== undefined) throw invalidRequest(shownName(stranger), 'is not a known member');
  if (held === undefined) throw invalidRequest(name, 'is required');
  if (!isJsonObject(held)) throw invalidRequest(name, 'must be an object');
  return held;
}

/** What a refused caller does next, by code. */
const NEXT: Partial<Record<GatewayError['code'], string>> = {
  invalid_request: 'Correct the argument that the message names, and call again.',
  app_not_found: 'Take the id of an application from list_apps.',
  provider_not_found: 'Take the id or slug of a provider from list_providers.',
  not_found: 'Take the id from the list of these resources.',
  app_revision_required: 'Read the application with get_app, and send its revision.',
  app_revision_conflict: 'Read the application with get_app again, merge, and send its new revision.',
  conflict: 'Read the resource again, merge, and send its new revision.',
  operation_not_found: 'Start again: call the tool without operation.',
  operation_mismatch: 'Send exactly the arguments of the first call, or start again without operation.',
  operation_expired: 'Start again: call the tool without operation.',
  gateway_in_use: 'Remove the providers that are routed through it first, or route them another way.',
  provider_gateway_managed: 'Rotate the token of the provider gateway instead.',
  forbidden: 'Ask an owner or admin of the account.',
  unsupported_snippet: 'Ask for another language, provider or endpoint.',
  endpoint_not_found: 'Take the slug of an endpoint from get_app.',
  grant_insufficient: 'Connect with a credential that may manage.',
};

/** What the caller of a refused tool does next. */
export function nextStep({ code, status, retryAfterSeconds }: GatewayError): string {
  const known = NEXT[code];
  if (known !== undefined) return known;
  if (retryAfterSeconds !== undefined) return `Call again in ${Math.ceil(retryAfterSeconds)} seconds.`;
  return status >= 500 ? 'Call again later; the log of the gateway says what failed.' : 'Do what the message says.';
}
