import { invalidRequest } from '../common/errors/gateway-error.js';
import { type CapStyle, classifyPath } from './api-style.rules.js';
import { capStyleOfExtraPath } from './cap-style.rules.js';
import { methodsOfPath, type PathMethod } from './path-methods.rules.js';
import { dialectOf } from './provider-dialect.js';
import { isProviderType, type ProviderType } from './provider-types.js';
import { isSafeUpstreamPath } from './upstream-path.rules.js';

const PLACEHOLDER = '{model}';
const EXACT_MODEL = /^(v1(?:alpha|beta)?\/models\/)([^/:]+)(:[a-zA-Z]+)$/;

/** One allowed provider path of an application. Source: docs/reference/application-api.md#allowed-paths. */
export interface PathPolicyEntry {
  /** The exact path; `{model}`, at most once, matches one segment or a part of one. */
  readonly path: string;
  /** Model for pricing and the model list when neither path nor body names one; never sent. */
  readonly fixedModel?: string;
  /** Overrides which members hold the output ceiling on this path. */
  readonly clamp?: CapStyle;
  /** Overrides the default methods of the path. */
  readonly methods?: readonly PathMethod[];
}

/** The entry that allows a path, and the percent-decoded model in the path. */
export interface PathMatch {
  readonly entry: PathPolicyEntry;
  /** Any other method is refused. */
  readonly methods: ReadonlySet<string>;
  /** The path with `{model}` in place of the model, where the path names one. */
  readonly template: string;
  readonly model?: string;
}

interface RankedEntry {
  readonly rank: number;
  readonly entry: PathPolicyEntry;
  readonly methods: ReadonlySet<string>;
  readonly template: string;
  /** Named by the exact path, percent-decoded. */
  readonly model?: string | undefined;
}

interface ModelEntry extends RankedEntry {
  readonly prefix: string;
  readonly suffix: string;
}

/** Path policy prepared for lookup: exact paths in a map, paths with a model in their written order. */
export interface CompiledPathPolicy {
  readonly exact: ReadonlyMap<string, RankedEntry>;
  readonly withModel: readonly ModelEntry[];
}

/**
 * Compiles a path policy. Only `{model}` is special; `*` is a literal. An empty list allows nothing here; {@link
 * defaultPathPolicy} implements an empty `allowed_paths`.
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
 * Finds the first entry, in written order, that allows a path; none for a path that {@link isSafeUpstreamPath} rejects.
 *
 * @param path as sent: percent-encoded, no leading slash, no query.
 * @throws invalid_request the segment with the model has an invalid percent escape.
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
 * The model in an exact Gemini path; the provider uses it whatever the body names. A `fixedModel` takes its place for
 * policy and price but never changes the path.
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

/** Built on first use, because types may be registered until the application starts. */
const defaultPolicies = new Map<ProviderType, CompiledPathPolicy>();

/** The policy of an empty `allowed_paths`: the inference paths of the type, never its control plane. */
export function defaultPathPolicy(type: ProviderType): CompiledPathPolicy {
  const known = defaultPolicies.get(type);
  if (known !== undefined) return known;
  if (!isProviderType(type)) return compilePathPolicy([]);
  const { inferencePaths, pathModels } = dialectOf(type);
  const policy = compilePathPolicy(inferencePaths.map((path) => defaultEntry(path, pathModels)));
  defaultPolicies.set(type, policy);
  return policy;
}
