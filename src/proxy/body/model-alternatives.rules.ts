import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import type { GatewayType } from '../../upstreams/routes/gateway-types.js';
import { isNamed, memberValue, type ScannedBody } from '../json/json-members.js';
import { scanJson } from '../json/json-scan.js';
import { JudgedNames } from '../json/judged-names.js';

/** Where a body goes, as far as it decides which members can name models or credentials of their own. */
export interface AlternativesTarget {
  readonly type: ProviderType;
  readonly routeKind: 'direct' | GatewayType;
  /** Names as clients send them; empty = any. */
  readonly allowedModels: ReadonlySet<string>;
}

/** Far above any list of models to fall back to. */
const MODELS_MAX_BYTES = 16 * 1024;
/** Longest `providerOptions.gateway` that is read; a request beyond it cannot be judged. */
const GATEWAY_OPTIONS_MAX_BYTES = 64 * 1024;
const GATEWAY_OPTIONS = 'providerOptions.gateway';
const OPEN_OBJECT = 0x7b;

/** Members of a gateway's own options that reach past the model and the credential of the call. */
const REFUSED_OPTIONS = ['models', 'byok'] as const;
const OPTION_NAMES = new JudgedNames({ root: REFUSED_OPTIONS, nested: {}, deep: [] });

/**
 * Refuses what would let a body choose other models than the one that was judged and priced, or another credential
 * than the stored one: `models` where the provider reports the cost itself, unless every name is allowed; `models` and
 * `byok` where a gateway understands them.
 *
 * @param body scanned with `REQUEST_NAMES`.
 * @throws invalid_request, model_not_allowed.
 * Source: contract-app 6.6, threats 3.1 and 3.7.
 */
export function judgeModelAlternatives(
  body: ScannedBody,
  { type, routeKind, allowedModels }: AlternativesTarget,
): void {
  if (routeKind === 'vercel') refuseGatewayOptions(body);
  else if (type === 'openrouter') requireAllowedModels(body, allowedModels);
}

function requireAllowedModels({ bytes, root }: ScannedBody, allowedModels: ReadonlySet<string>): void {
  const member = root.members.get('models');
  if (!isNamed(bytes, member)) return;
  const models = memberValue(bytes, member, 'models', MODELS_MAX_BYTES);
  if (!Array.isArray(models)) throw invalidRequest('models', 'must be an array');
  for (const [index, model] of models.entries()) {
    if (typeof model !== 'string' || model === '')
      throw invalidRequest(`models.${index}`, 'must be a non-empty string');
    if (allowedModels.size > 0 && !allowedModels.has(model)) {
      throw new GatewayError('model_not_allowed', {
        message: `The application does not allow the model "${model}", which models.${index} names.`,
      });
    }
  }
}

function refuseGatewayOptions(body: ScannedBody): void {
  refuseNamed(body, 'models', 'models');
  const options = readGatewayOptions(body);
  if (options === undefined) return;
  for (const name of REFUSED_OPTIONS) refuseNamed(options, name, `${GATEWAY_OPTIONS}.${name}`);
}

function refuseNamed({ bytes, root }: ScannedBody, name: string, path: string): void {
  if (isNamed(bytes, root.members.get(name))) throw invalidRequest(path, 'cannot be used through the gateway');
}

/** The options as a body of their own, so that they are read as strictly; undefined when there are none. */
function readGatewayOptions({ bytes, root }: ScannedBody): ScannedBody | undefined {
  const member = root.members.get('providerOptions')?.nested?.members.get('gateway');
  if (member === undefined || bytes[member.start] !== OPEN_OBJECT) return undefined;
  if (member.end - member.start > GATEWAY_OPTIONS_MAX_BYTES) {
    throw invalidRequest(GATEWAY_OPTIONS, `longer than ${GATEWAY_OPTIONS_MAX_BYTES} bytes`);
  }
  try {
    return scanJson(bytes.subarray(member.start, member.end), OPTION_NAMES);
  } catch (error) {
    if (error instanceof GatewayError) throw invalidRequest(GATEWAY_OPTIONS, error.message);
    throw error;
  }
}
