import {
  API_STYLES,
  type ApiStyle,
  type CapFieldForChat,
  type CapStyle,
  type EndpointStyle,
  isModelList,
  NAMED_STYLE_PATHS,
} from './api-style.rules.js';
import { DIALECT_FACTS, type DialectFacts, type HeaderPair } from './dialect-table.js';
import { type BuiltInType, type DefinedType, type ProviderType } from './provider-types.js';

const MAX_AUTHOR_LENGTH = 64;

/**
 * The cheap authenticated GET that verifies a credential.
 * Source: docs/reference/management-api.md#testing-a-provider-key.
 */
interface CredentialProbe {
  /** Below the base URL, no leading slash. */
  readonly path: string;
  readonly headers: readonly HeaderPair[];
}

/** Protocol facts of a provider type on a direct route. Source: docs/reference/application-api.md#provider-types. */
export interface ProviderDialect {
  readonly type: ProviderType;
  /** Display name. */
  readonly label: string;
  /** Origin and base path with a trailing slash; the provider path is appended. */
  readonly baseUrl: string;
  /** Header of the key, in lower case. */
  readonly credentialHeader: string;
  /** Value of `credentialHeader` for a provider secret in plain text. */
  credentialValue(secret: string): string;
  /** Sent with every call, names in lower case; they override client headers of the same name. */
  readonly extraHeaders: readonly HeaderPair[];
  /** Location of the output ceiling when neither policy nor path determines it. */
  readonly capStyle: CapStyle;
  /** Whether the Messages API is the type's own; others may serve its path beside theirs. */
  readonly speaksMessages: boolean;
  /** The member to add when a Chat Completions body has no ceiling. */
  readonly capFieldForChat: CapFieldForChat;
  /** Whether a Chat Completions stream ends with its usage unasked, so that the gateway does not ask for it. */
  readonly streamsUsage: boolean;
  /** Styles this type serves on a direct route. */
  readonly apiStyles: readonly ApiStyle[];
  /** Upstream path of each named-endpoint style that the gateway can compose for this type; empty for most types. */
  readonly endpointStyles: ReadonlyMap<EndpointStyle, string>;
  /** Null: the type has no cheap authenticated call. */
  readonly probe: CredentialProbe | null;
  /** Paths, `{model}` and `{object}` included, that an empty `allowed_paths` allows. */
  readonly inferencePaths: readonly string[];
  /** Default model of paths in `inferencePaths` on which a request may omit the model. */
  readonly pathModels: ReadonlyMap<string, string>;
  /** Whether the provider serves the path for free. */
  isFree(path: string): boolean;
  /** Whether an answer of that style contains the provider's own cost, so that no price is needed. */
  reportsCost(style: ApiStyle): boolean;
  /** Developer of the model, for analytics, when the price catalog has none. */
  modelAuthor(model: string): string | null;
}

function dialect(type: ProviderType, facts: DialectFacts): ProviderDialect {
  const { credentialHeader = 'authorization', probePath, costStyles = [], author = null, freePaths = [] } = facts;
  const freePatterns = freePaths.map(patternOf);
  const { extraPaths = [], objectPaths = [] } = facts;
  const modelLists = [probePath ?? '', ...(facts.modelPaths ?? [])].filter(isModelList);
  return Object.freeze({
    type,
    label: facts.label,
    baseUrl: facts.baseUrl,
    credentialHeader,
    credentialValue: (secret: string) => (credentialHeader === 'authorization' ? `Bearer ${secret}` : secret),
    extraHeaders: facts.extraHeaders ?? [],
    capStyle: facts.capStyle ?? 'chat_completions',
    speaksMessages: facts.capStyle === 'anthropic',
    capFieldForChat: facts.capFieldForChat ?? 'max_tokens',
    streamsUsage: facts.streamsUsage ?? false,
    apiStyles: facts.apiStyles ?? API_STYLES,
    endpointStyles: new Map(facts.endpointPaths ?? []),
    probe: probePath === undefined ? null : { path: probePath, headers: facts.probeHeaders ?? [] },
    inferencePaths: [...NAMED_STYLE_PATHS, ...extraPaths, ...objectPaths, ...freePaths, ...modelLists],
    pathModels: new Map(facts.pathModels ?? []),
    isFree: (path: string) => freePatterns.some((pattern) => pattern.test(path)),
    reportsCost: (style: ApiStyle) => costStyles.includes(style),
    modelAuthor: (model: string) => (author === 'namespace' ? namespaceOf(model) : author),
  });
}

/** @param path of the table, of letters, digits, `/`, `_` and `:`; `{model}` matches a segment or part of one. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace('{model}', '[^/]+')}$`);
}

/** The part of a marketplace model name before the slash; null when it is missing or too long. */
function namespaceOf(model: string): string | null {
  const slash = model.indexOf('/');
  return slash > 0 && slash <= MAX_AUTHOR_LENGTH ? model.slice(0, slash) : null;
}

const DIALECTS = new Map<ProviderType, ProviderDialect>(
  Object.entries(DIALECT_FACTS).map(([name, facts]) => [name as BuiltInType, dialect(name as BuiltInType, facts)]),
);

/**
 * Returns the dialect of a provider type: one shared frozen object per type.
 *
 * @throws TypeError for an unknown provider type, which requires a value that bypassed the type checker.
 */
export function dialectOf(type: ProviderType): ProviderDialect {
  const known = DIALECTS.get(type);
  if (known === undefined) throw new TypeError('unknown provider type');
  return known;
}

/** Adds the dialect of a new type. For `defineProviderTypes` only, which registers all parts of a type. */
export function addDialect(type: DefinedType, facts: DialectFacts): void {
  DIALECTS.set(type, dialect(type, facts));
}

/** Removes the dialect that {@link addDialect} added. */
export function removeDialect(type: DefinedType): void {
  DIALECTS.delete(type);
}

/** All headers that carry a key for some provider type, in lower case. */
export function credentialHeaders(): ReadonlySet<string> {
  return new Set([...DIALECTS.values()].map(({ credentialHeader }) => credentialHeader));
}
