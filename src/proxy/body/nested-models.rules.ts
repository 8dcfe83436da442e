import { invalidRequest } from '../../common/errors/gateway-error.js';
import type { JsonEdit } from '../json/json-edit.js';
import { isNamed, MemberSpan, memberValue, type ScannedBody } from '../json/json-members.js';
import { JudgedNames } from '../json/judged-names.js';
import { agreesWithPath, inBodySpelling, type ModelChoice } from '../model-choice.rules.js';

const WRAPPERS = ['generateContentRequest', 'generate_content_request'];
const MODEL = 'model';
const CACHES = ['cachedContent', 'cached_content'];
const INSIDE = [MODEL, ...CACHES];

/** Token counting: the body wraps the request to count. */
const COUNTED = new JudgedNames({
  root: [],
  nested: Object.fromEntries(WRAPPERS.map((wrapper) => [wrapper, INSIDE])),
  deep: [],
  media: [],
});
/** Batch embedding: every entry names the model again. */
const EMBEDDED = new JudgedNames({ root: [], nested: {}, deep: [MODEL], media: [] });

/** Names to scan for on this path in addition to those of every body; undefined for nearly all paths. */
export function nestedNamesOf(path: string): JudgedNames | undefined {
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
      throw invalidRequest(`${wrapper}.${name}`, 'objects kept at the provider cannot be used through the gateway');
    }
    const member = members?.get(MODEL);
    if (isNamed(bytes, member)) found.push({ path: `${wrapper}.${MODEL}`, member });
  }
  return found;
}
