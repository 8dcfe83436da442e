import { invalidRequest } from '../common/errors/gateway-error.js';
import { type ApiStyle, type CapStyle, classifyPath, isModelList } from './api-style.rules.js';
import { dialectOf, type ProviderDialect } from './provider-dialect.js';
import { isProviderType, type ProviderType } from './provider-types.js';

const PLACEHOLDER = '{model}';
/** Stands for the id of an object that the provider keeps; only its owner may call the path. */
const OBJECT_PLACEHOLDER = '{object}';
const PLACEHOLDERS = /(\{model\}|\{object\})/;
const EXACT_MODEL = /^(v1(?:alpha|beta)?\/models\/)([^/:]+)(:[a-zA-Z]+)$/;

/** One allowed provider path of an application. Source: docs/reference/application-api.md#allowed-paths. */
export interface PathPolicyEntry {
  /** The exact path; one `{model}` or `{object}` matches a segment or a part of one. */
  readonly path: string;
  /** Model for pricing and the model list when neither path nor body names one; never sent. */
  readonly fixedModel?: string;
  /** Overrides which members hold the output ceiling on this path. */
  readonly clamp?: CapStyle;
  /** Overrides the default methods of the path. */
  readonly methods?: readonly PathMethod[];
}

/** The entry that allows a path, and what the path names, percent-decoded. */
export interface PathMatch {
  readonly entry: PathPolicyEntry;
  /** Any other method is refused. */
  readonly methods: ReadonlySet<string>;
  /** The path with `{model}` in place of the model, where the path names one. */
  readonly template: string;
  readonly model?: string;
  /** Id of an object that the provider keeps. */
  readonly object?: string;
}

interface RankedEntry {
  readonly rank: number;
  readonly entry: PathPolicyEntry;
  readonly methods: ReadonlySet<string>;
  readonly template: string;
  /** Named by the exact path, percent-decoded. */
  readonly model?: string | undefined;
}

interface NamingEntry extends RankedEntry {
  /** What the path names. */
  readonly names: 'model' | 'object';
  readonly prefix: string;
  readonly suffix: string;
}

/** Path policy prepared for lookup: exact paths in a map, paths with a placeholder in their written order. */
export interface CompiledPathPolicy {
  readonly exact: ReadonlyMap<string, RankedEntry>;
  readonly naming: readonly NamingEntry[];
}

/**
 * Compiles a path policy. Only `{model}` and `{object}` are special; `*` is a literal. An empty list allows nothing
 * here; {@link defaultPathPolicy} implements an empty `allowed_paths`.
 *
 * @throws invalid_request an entry has more than one of them; the path in the error is relative to the list.
 */
export function compilePathPolicy(entries: readonly PathPolicyEntry[]): CompiledPathPolicy {
  const exact = new Map<string, RankedEntry>();
  const naming: NamingEntry[] = [];
  entries.forEach((entry, rank) => {
    if (placeholdersIn(entry.path) > 1) throw invalidRequest(`${rank}.path`, PLACEHOLDER_PROBLEM);
    const [prefix = '', placeholder, suffix] = entry.path.split(PLACEHOLDERS);
    const names = placeholder === OBJECT_PLACEHOLDER ? 'object' : 'model';
    const methods = entry.methods === undefined ? methodsOfPath(entry.path) : new Set(entry.methods);
    const template = entry.path;
    if (suffix !== undefined) naming.push({ rank, entry, methods, template, names, prefix, suffix });
    else if (!exact.has(entry.path)) exact.set(entry.path, { rank, entry, methods, ...exactModel(entry) });
  });
  return { exact, naming };
}

/** What is wrong with a path that has several placeholders. */
export const PLACEHOLDER_PROBLEM = `must have ${PLACEHOLDER} or ${OBJECT_PLACEHOLDER} only once`;

/** Number of placeholders in a path of a policy; at most one is valid. */
export function placeholdersIn(path: string): number {
  return (path.split(PLACEHOLDERS).length - 1) / 2;
}

/**
 * Finds the first entry, in written order, that allows a path; none for a path that {@link isSafeUpstreamPath} rejects.
 *
 * @param path as sent: percent-encoded, no leading slash, no query.
 * @throws invalid_request the segment with the model or object has an invalid percent escape.
 * Source: docs/reference/application-api.md#allowed-paths, docs/reference/application-api.md#proxy-paths.
 */
export function matchPath(policy: CompiledPathPolicy, path: string): PathMatch | undefined {
  if (!isSafeUpstreamPath(path)) return undefined;
  const exact = policy.exact.get(path);
  for (const candidate of policy.naming) {
    if (exact !== undefined && exact.rank < candidate.rank) break;
    const named = capturedName(candidate, path);
    if (named === undefined) continue;
    const { entry, methods, template, names } = candidate;
    return { entry, methods, template, [names]: decodeName(named, names) };
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
  return { template: before + PLACEHOLDER + action, model: decodeName(named, 'model') };
}

function capturedName({ prefix, suffix }: NamingEntry, path: string): string | undefined {
  const end = path.length - suffix.length;
  if (end <= prefix.length || !path.startsWith(prefix) || !path.endsWith(suffix)) return undefined;
  const name = path.slice(prefix.length, end);
  return name.includes('/') ? undefined : name;
}

function decodeName(encoded: string, what: NamingEntry['names']): string {
  try {
    return decodeURIComponent(encoded);
  } catch (cause) {
    if (cause instanceof URIError)
      throw invalidRequest('path', `the ${what} has a broken percent escape`, 'path_escape');
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

/** Methods that a policy may allow on a provider path. */
export const PATH_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type PathMethod = (typeof PATH_METHODS)[number];

const POST_ONLY: ReadonlySet<string> = new Set<PathMethod>(['POST']);
const GET_ONLY: ReadonlySet<string> = new Set<PathMethod>(['GET']);
/** Of an object that the provider keeps: its owner may read and delete it. */
const OBJECT_METHODS: ReadonlySet<string> = new Set<PathMethod>(['GET', 'DELETE']);
const WITHOUT_BODY: ReadonlySet<string> = new Set<PathMethod>(['GET', 'DELETE']);

/** A single model of a list, by name or as `{model}`; `models` alone has none. */
const LIST_OF_MODEL = /^(.+\/models)\/[^/:]+$/;

/**
 * Default methods of a path: GET for lists of models and single models, which are public metadata; GET and DELETE for
 * an object of its owner; else POST.
 */
export function methodsOfPath(path: string): ReadonlySet<string> {
  if (path.endsWith(`/${OBJECT_PLACEHOLDER}`)) return OBJECT_METHODS;
  return isModelList(LIST_OF_MODEL.exec(path)?.[1] ?? path) ? GET_ONLY : POST_ONLY;
}

/** Ends the work on an object. */
const CANCELLATION = `/${OBJECT_PLACEHOLDER}/cancel`;

/** Whether a request of this method has a body. @param template the path with placeholders. */
export function takesBody(method: string, template: string): boolean {
  return !WITHOUT_BODY.has(method) && !template.endsWith(CANCELLATION);
}

/** Body format of a path; `either`: both are valid there, or the path is unknown. */
export type PathBody = 'json' | 'form' | 'either';

const BODY_OF_STYLE: Readonly<Record<ApiStyle, PathBody | undefined>> = {
  responses: 'json',
  chat_completions: 'json',
  anthropic_messages: 'json',
  gemini_native: 'json',
  gemini_interactions: 'json',
  audio_transcription: 'form',
  other: undefined,
};

/** Endings of the other paths, as the official SDKs call them. Image edits accept a form or JSON. */
const BODY_OF_ENDING: ReadonlyMap<string, PathBody> = new Map([
  ...(['completions', 'responses', 'compact', 'agent', 'messages'] as const).map((ending) => [ending, 'json'] as const),
  ['interactions', 'json'],
  ...(['embeddings', 'contextualizedembeddings', 'moderations'] as const).map((ending) => [ending, 'json'] as const),
  ...(['count_tokens', 'input_tokens', 'generations', 'speech'] as const).map((ending) => [ending, 'json'] as const),
  ...(['embedContent', 'batchEmbedContents', 'countTokens'] as const).map((ending) => [ending, 'json'] as const),
  ['variations', 'form'],
]);

const LAST_PART = /[^/:]*$/;

/** @param path below the base URL; read for style `other` only. */
export function bodyOfPath(style: ApiStyle, path: string): PathBody {
  return BODY_OF_STYLE[style] ?? BODY_OF_ENDING.get(LAST_PART.exec(path)?.[0] ?? '') ?? 'either';
}

/** Characters outside printable ASCII, a backslash, the start of a query or fragment, a leading or doubled slash. */
const FORBIDDEN_CHARACTERS = /[^\x21-\x7e]|[\\?#]|^\/|\/\//;

/** Escapes of a slash, a backslash, a control character, or of `%` itself (double encoding). */
const FORBIDDEN_ESCAPES = /%(?:2f|5c|25|[01][0-9a-f]|7f)/i;

/** `.` or `..` as a segment, dots plain or escaped; some servers ignore the text after a semicolon. */
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:(?:;|%3b)[^/]*)?(?:\/|$)/i;

/**
 * Whether a path, appended to a base URL, stays below it for every server and proxy in between. Checks the bytes as
 * sent.
 *
 * @param path percent-encoded, no leading slash, no query.
 * Source: docs/reference/application-api.md#proxy-paths.
 */
export function isSafeUpstreamPath(path: string): boolean {
  return path !== '' && !FORBIDDEN_CHARACTERS.test(path) && !FORBIDDEN_ESCAPES.test(path) && !DOT_SEGMENT.test(path);
}

/** Endings of text-generation paths without an API style; their bodies use the members of the mapped style. */
const CAP_STYLE_OF_ENDING: ReadonlyMap<string, CapStyle> = new Map([
  ['completions', 'chat_completions'],
  ['responses', 'responses'],
  ['agent', 'responses'],
  ['messages', 'anthropic'],
  ['interactions', 'gemini_interactions'],
]);

/**
 * Returns the ceiling members of a default path without an API style: those of its body where it has them, `none` for
 * embeddings, images, speech and compaction.
 * Source: docs/reference/application-api.md#allowed-paths.
 */
export function capStyleOfExtraPath(path: string): CapStyle {
  return CAP_STYLE_OF_ENDING.get(path.slice(path.lastIndexOf('/') + 1)) ?? 'none';
}

/**
 * Path segments, and actions after a colon, of requests that take no ceiling: embeddings, counting, moderation,
 * ranking, images, speech, compaction. Providers reject or misread one there.
 */
const WITHOUT_CEILING: ReadonlySet<string> = new Set([
  'compact',
  ...['embeddings', 'embed', 'contextualizedembeddings', 'multimodalembeddings'],
  ...['embedContent', 'embedText', 'batchEmbedContents', 'batchEmbedText', 'asyncBatchEmbedContent'],
  ...['count_tokens', 'input_tokens', 'tokenize', 'tokenize-text', 'detokenize'],
  ...['countTokens', 'countTextTokens', 'countMessageTokens', 'computeTokens'],
  ...['moderations', 'classifications', 'classify', 'rerank', 'reranking', 'score'],
  ...['images', 'image-generations', 'videos', 'video', 'predict', 'predictLongRunning'],
  ...['audio', 'speech', 'tts', 'stt', 'transcriptions', 'translations', 'ocr', 'search'],
]);

const SEGMENTS = /[/:]/;

/**
 * Whether a path without an API style is known to take no ceiling. An unknown path may generate text, so it gets one.
 */
function takesNoCeiling(path: string): boolean {
  return path.split(SEGMENTS).some((segment) => WITHOUT_CEILING.has(segment));
}

const CAP_STYLE_OF_API: Readonly<Record<ApiStyle, CapStyle | undefined>> = {
  responses: 'responses',
  chat_completions: 'chat_completions',
  // A Messages body has the same members at every provider type.
  anthropic_messages: 'anthropic',
  gemini_native: 'gemini_native',
  gemini_interactions: 'gemini_interactions',
  audio_transcription: 'none',
  other: undefined,
};

/**
 * Determines which members hold the output ceiling of a request. Precedence: the `clamp` of the matched policy entry;
 * the API style; the ending of a text-generation path; `none` where the path is known to take no ceiling; the native
 * style of the provider type.
 *
 * @param path below the base URL; read for style `other` only.
 */
export function capStyleFor(
  dialect: ProviderDialect,
  style: ApiStyle,
  clamp: CapStyle | undefined,
  path: string,
): CapStyle {
  const named = clamp ?? CAP_STYLE_OF_API[style];
  if (named !== undefined) return named;
  const byEnding = capStyleOfExtraPath(path);
  if (byEnding !== 'none') return byEnding;
  return takesNoCeiling(path) ? 'none' : dialect.capStyle;
}
