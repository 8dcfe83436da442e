import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { ProviderRoute } from '../../upstreams/routes/provider-route.js';
import { type JsonEdit, setMember } from '../json/json-edit.js';
import { isNamed, memberValue, type ScannedBody } from '../json/json-members.js';

const OPTIONS = 'providerOptions';
/** Longest `providerOptions` that is read; a request beyond it cannot be judged. */
const OPTIONS_MAX_BYTES = 64 * 1024;

/**
 * What no group of options may set, because the request itself was judged for it, or because it would reach another
 * model, credential or price; letter case and underscores removed.
 */
const REFUSED: ReadonlySet<string> = new Set([
  ...['model', 'models', 'byok', 'maxoutputtokens', 'maxtokens', 'maxcompletiontokens', 'n', 'bestof'],
  ...['background', 'previousresponseid', 'prompt', 'conversation', 'cachedcontent', 'container', 'batch', 'batchid'],
  ...['servicetier', 'speed', 'inferencegeo', 'websearchoptions', 'searchparameters', 'deferred'],
]);
/** Beside those, in the gateway's own group: what we tell it about the caller. */
const REFUSED_OF_GATEWAY: ReadonlySet<string> = new Set(['user', 'tags']);

type Options = Readonly<Record<string, unknown>>;

/**
 * Judges the options a body gives a translating gateway, and pins the providers that may serve: ours wins, every other
 * option is kept. What was judged is written anew, so that nothing in it can be read in a second way. Ways on which
 * the member means nothing are left alone.
 *
 * @param body scanned with `REQUEST_NAMES`.
 * @throws invalid_request naming the option.
 * Source: contract-app 6.12 "Body rewrite"; threats 3.1 and 3.7.
 */
export function gatewayOptionEdits({ bytes, root }: ScannedBody, { kind, providerOnly }: ProviderRoute): JsonEdit[] {
  if (kind !== 'vercel') return [];
  const member = root.members.get(OPTIONS);
  const sent = isNamed(bytes, member) ? memberValue(bytes, member, OPTIONS, OPTIONS_MAX_BYTES) : {};
  const groups = isOptions(sent) ? sent : {};
  for (const [group, options] of Object.entries(groups)) refuseOptions(group, options);
  if (providerOnly !== null) {
    return [setMember(root, OPTIONS, JSON.stringify({ ...groups, gateway: pinned(groups.gateway, providerOnly) }))];
  }
  return member === undefined ? [] : [{ kind: 'replace', member, json: JSON.stringify(groups) }];
}

function pinned(gateway: unknown, only: readonly string[]): Options {
  return isOptions(gateway) ? { ...gateway, only } : { only };
}

function refuseOptions(group: string, options: unknown): void {
  if (!isOptions(options)) return;
  for (const [name, value] of Object.entries(options)) {
    const folded = name.replaceAll('_', '').toLowerCase();
    const isRefused = REFUSED.has(folded) || (group === 'gateway' && REFUSED_OF_GATEWAY.has(folded));
    if (isRefused && value !== null) {
      throw invalidRequest(`${OPTIONS}.${group}.${name}`, 'cannot be used through the gateway');
    }
  }
}

function isOptions(value: unknown): value is Options {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
