import { invalidRequest } from '../common/errors/gateway-error.js';
import { type CapStyle, classifyPath } from './api-style.rules.js';
import { capStyleOfExtraPath } from './cap-style.rules.js';
import { dialectOf } from './provider-dialect.js';
import { isProviderType, type ProviderType } from './provider-types.js';
import { isSafeUpstreamPath } from './upstream-path.rules.js';

const PLACEHOLDER = '{model}';

/** One permitted provider path of an application. Source: contract-app 6.5. */
export interface PathPolicyEntry {
  /** The exact path; `{model}`, at most once, stands for one segment or a part of one. */
  readonly path: string;
  /** Model for prices and the model list when neither path nor body names one; never sent. */
  readonly fixedModel?: string;
  /** Which members hold the output ceiling on this path, instead of what its style says. */
  readonly clamp?: CapStyle;
}

/** An entry that permits a path, with the model the path names, percent-decoded. */
export interface PathMatch {
  readonly entry: PathPolicyEntry;
  readonly model?: string;
}

interface RankedEntry {
  readonly rank: number;
  readonly entry: PathPolicyEntry;
}

interface ModelEntry extends RankedEntry {
  readonly prefix: string;
  readonly suffix: string;
}

/** Path policy ready for look-ups: exact paths in a map, paths with a model in written order. */
export interface CompiledPathPolicy {
  readonly exact: ReadonlyMap<string, RankedEntry>;
  readonly withModel: readonly ModelEntry[];
}

/**
 * Prepares a path policy. Nothing but `{model}` is special, `*` included. An empty list permits nothing here: what
 * an empty `allowed_paths` means is {@link defaultPathPolicy}.
 *
 * @throws invalid_request an entry has more than one `{model}`; the path in the error is relative to the list.
 */
export function compilePathPolicy(entries: readonly PathPolicyEntry[]): CompiledPathPolicy {
  const exact = new Map<string, RankedEntry>();
  const withModel: ModelEntry[] = [];
  entries.forEach((entry, rank) => {
    const [prefix = '', suffix, ...more] = entry.path.split(PLACEHOLDER);
    if (more.length > 0) throw invalidRequest(`${rank}.path`, `${PLACEHOLDER} may stand in a path only once`);
    if (suffix !== undefined) withModel.push({ rank, entry, prefix, suffix });
    else if (!exact.has(entry.path)) exact.set(entry.path, { rank, entry });
  });
  return { exact, withModel };
}

/**
 * The first entry, in written order, that permits a path; none for a path that {@link isSafeUpstreamPath} refuses.
 *
 * @param path as it will be sent: still percent-encoded, no leading slash, no query.
 * @throws invalid_request the segment that names the model has a broken percent escape.
 * Source: contract-app 6.5; threats 3.2, 3.3.
 */
export function matchPath(policy: CompiledPathPolicy, path: string): PathMatch | undefined {
  if (!isSafeUpstreamPath(path)) return undefined;
  const exact = policy.exact.get(path);
  for (const candidate of policy.withModel) {
    if (exact !== undefined && exact.rank < candidate.rank) break;
    const model = capturedModel(candidate, path);
    if (model !== undefined) return { entry: candidate.entry, model: decodeModel(model) };
  }
  return exact && { entry: exact.entry };
}

function capturedModel({ prefix, suffix }: ModelEntry, path: string): string | undefined {
  const end = path.length - suffix.length;
  if (end <= prefix.length || !path.startsWith(prefix) || !path.endsWith(suffix)) return undefined;
  const model = path.slice(prefix.length, end);
  return model.includes('/') ? undefined : model;
}

function decodeModel(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch (cause) {
    if (cause instanceof URIError) throw invalidRequest('path', 'the model has a broken percent escape', 'path_escape');
    throw cause;
  }
}

function defaultEntry(path: string): PathPolicyEntry {
  return isNamed(path) ? { path } : { path, clamp: capStyleOfExtraPath(path) };
}

function isNamed(path: string): boolean {
  return classifyPath(path) !== 'other';
}

/** Each is made when it is first asked for: types may be added until the service starts. */
const defaultPolicies = new Map<ProviderType, CompiledPathPolicy>();

/** What an empty `allowed_paths` permits: the inference paths of the type, never its control plane (decision 3.2). */
export function defaultPathPolicy(type: ProviderType): CompiledPathPolicy {
  const known = defaultPolicies.get(type);
  if (known !== undefined) return known;
  if (!isProviderType(type)) return compilePathPolicy([]);
  const policy = compilePathPolicy(dialectOf(type).inferencePaths.map(defaultEntry));
  defaultPolicies.set(type, policy);
  return policy;
}
