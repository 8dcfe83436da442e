import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { memberPath } from '../../common/fields/config-values.js';
import { parseStrictJson } from '../../common/http/strict-json.rules.js';
import { isJsonObject } from '../../common/json-object.js';
import type { ProviderRoute } from '../../upstreams/routes/provider-route.js';
import { type JsonEdit, setMember } from '../json/json-edit.js';
import { compileMembers } from '../json/json-merge.js';
import { mergeMembers } from '../json/json-scan.js';
import { isNamed, type MemberSpan, type ScannedBody } from '../json/scanned-body.js';

const OPTIONS = 'providerOptions';
/** Maximum size of `providerOptions`; a longer one is refused unread. */
const OPTIONS_MAX_BYTES = 64 * 1024;
const NO_OPTIONS = Buffer.from('{}');

/**
 * Options refused in every group: the request itself was validated for them, or they would select another model,
 * credential or price. Names in lower case without underscores.
 */
const REFUSED: ReadonlySet<string> = new Set([
  ...['model', 'models', 'byok', 'maxoutputtokens', 'maxtokens', 'maxcompletiontokens', 'n', 'bestof'],
  ...['background', 'previousresponseid', 'prompt', 'conversation', 'cachedcontent', 'container', 'batch', 'batchid'],
  ...['servicetier', 'speed', 'inferencegeo', 'websearchoptions', 'searchparameters', 'deferred'],
  ...['fallbacks', 'preset', 'agentid', 'threadid', 'contextid', 'promptid'],
]);
/** Options also refused in the gateway's own group: the caller metadata that this service sends. */
const REFUSED_OF_GATEWAY: ReadonlySet<string> = new Set(['user', 'tags']);

/**
 * Validates the options for a translating gateway and pins the allowed providers. The pin takes precedence; all other
 * options keep their bytes. An object with a duplicate member is serialised again, so that it has one reading. A value
 * that is not an object is replaced by one. Routes that do not read the member are skipped.
 *
 * @param body scanned with `REQUEST_NAMES`.
 * @throws invalid_request naming the option. Source: docs/reference/application-api.md#provider-types,
 * docs/reference/security.md#checked-and-sent-bytes, docs/reference/application-api.md#bodies,
 * docs/reference/application-api.md#refused-members.
 */
export function gatewayOptionEdits(
  { bytes, root }: ScannedBody,
  { kind, providerOnly }: Pick<ProviderRoute, 'kind' | 'providerOnly'>,
): JsonEdit[] {
  if (kind !== 'vercel') return [];
  const member = root.members.get(OPTIONS);
  if (providerOnly === null && member === undefined) return [];
  const checked = isNamed(bytes, member) ? optionsIn(bytes, member) : NO_OPTIONS;
  const pinned = compileMembers(providerOnly === null ? {} : { gateway: { only: providerOnly } });
  return [setMember(root, OPTIONS, mergeMembers(checked, pinned).toString('utf8'))];
}

/** The validated options: the bytes as sent, or their reserialisation where the bytes have more than one reading. */
function optionsIn(bytes: Buffer, { start, end }: MemberSpan): Buffer {
  if (end - start > OPTIONS_MAX_BYTES) throw invalidRequest(OPTIONS, `longer than ${OPTIONS_MAX_BYTES} bytes`);
  const sent = bytes.subarray(start, end);
  const groups: unknown = JSON.parse(sent.toString('utf8'));
  if (!isJsonObject(groups)) return NO_OPTIONS;
  for (const [group, options] of Object.entries(groups)) refuseOptions(group, options);
  return isStrict(sent) ? sent : Buffer.from(JSON.stringify(groups));
}

/** Whether a text is JSON with exactly one reading. */
function isStrict(sent: Buffer): boolean {
  try {
    parseStrictJson(sent, OPTIONS, { takesAnyNumber: true });
    return true;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

function refuseOptions(group: string, options: unknown): void {
  if (!isJsonObject(options)) return;
  for (const [name, value] of Object.entries(options)) {
    const folded = name.replaceAll('_', '').toLowerCase();
    const isRefused = REFUSED.has(folded) || (group === 'gateway' && REFUSED_OF_GATEWAY.has(folded));
    if (isRefused && value !== null) {
      throw invalidRequest(memberPath(memberPath(OPTIONS, group), name), 'cannot be used through the gateway');
    }
  }
}
