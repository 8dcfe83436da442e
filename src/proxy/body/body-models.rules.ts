import { displayText } from '../../common/errors/display-text.rules.js';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import type { GatewayType } from '../../upstreams/routes/gateway-types.js';
import { CheckedMembers } from '../json/checked-members.js';
import type { JsonEdit } from '../json/json-edit.js';
import { isNamed, MemberSpan, memberValue, type ScannedBody } from '../json/scanned-body.js';
import { agreesWithPath, inBodySpelling, type ModelChoice } from '../model-choice.rules.js';
import { isKeptModel } from './kept-objects.rules.js';

/** The target of a body, as far as it determines which members can name further models. */
export interface AlternativesTarget {
  readonly type: ProviderType;
  readonly routeKind: 'direct' | GatewayType;
  /** Names as clients send them; empty = any. */
  readonly allowedModels: ReadonlySet<string>;
}

/** Maximum size of a list of fallback models. */
const MODELS_MAX_BYTES = 16 * 1024;

/**
 * Refuses `models`, which could select models other than the validated and priced one. Where the provider reports the
 * cost, every listed name must be allowed. Where the provider or gateway would use another model at the price of the
 * validated one, the member is always refused.
 *
 * @param body scanned with `REQUEST_NAMES`.
 * @throws invalid_request, model_not_allowed. Source: docs/reference/application-api.md#models,
 * docs/reference/security.md#checked-and-sent-bytes, docs/reference/application-api.md#refused-members.
 */
export function validateModelAlternatives(
  body: ScannedBody,
  { type, routeKind, allowedModels }: AlternativesTarget,
): void {
  if (routeKind === 'vercel' || type === 'perplexity') refuseModels(body);
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
    if (isKeptModel(model) && !allowedModels.has(model)) {
      throw invalidRequest(
        `models.${index}`,
        'names a preset at the provider; the application must allow it',
        'kept_object',
      );
    }
    if (allowedModels.size > 0 && !allowedModels.has(model)) {
      throw new GatewayError('model_not_allowed', {
        message: `The application does not allow the model ${displayText(model)}, which models.${index} names.`,
      });
    }
  }
}

function refuseModels({ bytes, root }: ScannedBody): void {
  if (isNamed(bytes, root.members.get('models'))) throw invalidRequest('models', 'cannot be used through the gateway');
}

const WRAPPERS = ['generateContentRequest', 'generate_content_request'];
const MODEL = 'model';
const CACHES = ['cachedContent', 'cached_content'];
const INSIDE = [MODEL, ...CACHES];

/** Token counting: the body wraps the request to count. */
const COUNTED = new CheckedMembers({
  root: [],
  nested: Object.fromEntries(WRAPPERS.map((wrapper) => [wrapper, INSIDE])),
  deep: [],
  media: [],
});
/** Batch embedding: every entry names the model again. */
const EMBEDDED = new CheckedMembers({ root: [], nested: {}, deep: [MODEL], media: [] });

/** Names to scan for on this path in addition to those of every body; undefined for nearly all paths. */
export function nestedNamesOf(path: string): CheckedMembers | undefined {
  if (path.endsWith(':countTokens')) return COUNTED;
  return path.endsWith(':batchEmbedContents') ? EMBEDDED : undefined;
}

/**
 * Validates the models nested in a body whose path names the model, and rewrites them like that of the path.
 *
 * @param scan with the names that `nestedNamesOf` returns for the path.
 * @throws invalid_request a nested model differs from the path, or a request to count continues from state stored at
 *   the provider.
 */
export function nestedModelEdits(scan: ScannedBody, model: ModelChoice): JsonEdit[] {
  return nestedModels(scan).flatMap(({ path, member }): JsonEdit[] => {
    const named = memberValue(scan.bytes, member, path);
    if (typeof named !== 'string') throw invalidRequest(path, 'must be text');
    if (!agreesWithPath(named, model.requested)) throw invalidRequest(path, 'must be the model of the path');
    if (model.wire === model.requested) return [];
    return [{ kind: 'replace', member, json: JSON.stringify(inBodySpelling(named, model.wire)) }];
  });
}

interface NestedModel {
  /** Name of the member in errors. */
  readonly path: string;
  readonly member: MemberSpan;
}

function nestedModels({ bytes, root, deep }: ScannedBody): NestedModel[] {
  const found: NestedModel[] = deep.map(({ kind, start, end }) => {
    if (kind !== 'string') throw invalidRequest('requests.model', 'must be text');
    const member = new MemberSpan(MODEL, 0, -1, -1);
    member.start = start;
    member.end = end;
    return { path: 'requests.model', member };
  });
  for (const wrapper of WRAPPERS) {
    const members = root.members.get(wrapper)?.nested?.members;
    for (const name of CACHES) {
      if (!isNamed(bytes, members?.get(name))) continue;
      throw invalidRequest(`${wrapper}.${name}`, 'objects stored at the provider cannot be used through the gateway');
    }
    const member = members?.get(MODEL);
    if (isNamed(bytes, member)) found.push({ path: `${wrapper}.${MODEL}`, member });
  }
  return found;
}
