import { invalidRequest } from '../common/errors/gateway-error.js';
import { type CapStyle, classifyPath } from './api-style.rules.js';
import { capStyleOfExtraPath } from './cap-style.rules.js';
import { methodsOfPath, type PathMethod } from './path-methods.rules.js';
import { dialectOf } from './provider-dialect.js';
import { isProviderType, type ProviderType } from './provider-types.js';
import { isSafeUpstreamPath } from './upstream-path.rules.js';

const PLACEHOLDER = '{model}';
const EXACT_MODEL = /^(v1(?:alpha|beta)?\/models\/)([^/:]+)(:[a-zA-Z]+)$/;

/** One permitted provider path of an application. Source: docs/reference/application-api.md#allowed-paths. */
export interface PathPolicyEntry {
  /** The exact path; `{model}`, at most once, stands for one segment or a part of one. */
  readonly path: string;
  /** Model for prices and the model list when neither path nor body names one; never sent. */
  readonly fixedModel?: string;
  /** Which members hold the output ceiling on this path, instead of what its style says. */
  readonly clamp?: CapStyle;
  /** Instead of those that the path has of itself. */
  readonly methods?: readonly PathMethod[];
}

/** An entry that permits a path, with the model the path names, percent-decoded. */
export interface PathMatch {
  readonly entry: PathPolicyEntry;
  /** A request of any other method is refused. */
  readonly methods: ReadonlySet<string>;
  /** The path with `{model}` in the place of the model, where it names one. */
  readonly template: string;
  readonly model?: string;
}

interface RankedEntry {
  readonly rank: number;
  readonly entry: PathPolicyEntry;
  readonly methods: ReadonlySet<string>;
  readonly template: string;
  /** Named by the exact path itself, percent-decoded. */
  readonly model?: string | undefined;
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
    const methods = entry.methods === undefined ? methodsOfPath(entry.path) : new Set(entry.methods);
    const template = entry.path;
    if (suffix !== undefined) withModel.push({ rank, entry, methods, template, prefix, suffix });
    else if (!exact.has(entry.path)) exact.set(entry.path, { rank, entry, methods, ...exactModel(entry) });
  });
  return { exact, withModel };
}

/**
 * The first entry, in written order, that permits a path; none for a path that {@link isSafeUpstreamPath} refuses.
 *
 * @param path as it will be sent: still percent-encoded, no leading slash, no query.
 * @throws invalid_request the segment that names the model has a broken percent escape.
 * Source: docs/reference/application-api.md#allowed-paths, docs/reference/application-api.md#proxy-paths.
 */
export function matchPath(policy: CompiledPathPolicy, path: string): PathMatch | undefined {
  if (!isSafeUpstreamPath(path)) return undefined;
  const exact = policy.exact.get(path);
  for (const candidate of policy.withModel) {
    if (exact !== undefined && exact.rank < candidate.rank) break;
    const model = capturedModel(candidate, path);
    if (model === undefined) continue;
    const { entry, methods, template } = candidate;
    return { entry, methods, template, model: decodeModel(model) };
  }
  if (exact === undefined) return undefined;
  const { entry, methods, template, model } = exact;
  return model === undefined ? { entry, methods, template } : { entry, methods, template, model };
}

/**
 * The model that an exact path of Google's names: what is asked for there, whatever a body says. A model that the entry
 * fixes stands for it, and is never written into the path.
 */
function exactModel({ path, fixedModel }: PathPolicyEntry): Pick<RankedEntry, 'template' | 'model'> {
  const [, before = '', named, action = ''] = EXACT_MODEL.exec(path) ?? [];
  if (named === undefined) return { template: path };
  if (fixedModel !== undefined) return { template: path, model: fixedModel };
  return { template: before + PLACEHOLDER + action, model: decodeModel(named) };
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

function defaultEntry(path: string, pathModels: ReadonlyMap<string, string>): PathPolicyEntry {
  if (isNamed(path)) return { path };
  return { path, clamp: capStyleOfExtraPath(path), fixedModel: pathModels.get(path) };
}

function isNamed(path: string): boolean {
  return classifyPath(path) !== 'other';
}

/** Each is made when it is first asked for: types may be added until the service starts. */
const defaultPolicies = new Map<ProviderType, CompiledPathPolicy>();

/** What an empty `allowed_paths` permits: the inference paths of the type, never its control plane. */
export function defaultPathPolicy(type: ProviderType): CompiledPathPolicy {
  const known = defaultPolicies.get(type);
  if (known !== undefined) return known;
  if (!isProviderType(type)) return compilePathPolicy([]);
  const { inferencePaths, pathModels } = dialectOf(type);
  const policy = compilePathPolicy(inferencePaths.map((path) => defaultEntry(path, pathModels)));
  defaultPolicies.set(type, policy);
  return policy;
}
