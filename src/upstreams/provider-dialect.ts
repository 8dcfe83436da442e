import {
  API_STYLES,
  type ApiStyle,
  type CapFieldForChat,
  type CapStyle,
  type EndpointStyle,
  NAMED_STYLE_PATHS,
} from './api-style.rules.js';
import { DIALECT_FACTS, type DialectFacts, type HeaderPair } from './dialect-table.js';
import { type BuiltInType, type DefinedType, type ProviderType } from './provider-types.js';

const MAX_AUTHOR_LENGTH = 64;

/**
 * The cheap authenticated GET that proves a credential.
 *
 * Source: docs/reference/management-api.md#testing-a-provider-key.
 */
interface CredentialProbe {
  /** Below the base URL, no leading slash. */
  readonly path: string;
  readonly headers: readonly HeaderPair[];
}

/** What a provider type speaks when it is called directly. Source: docs/reference/application-api.md#provider-types. */
export interface ProviderDialect {
  readonly type: ProviderType;
  /** For people. */
  readonly label: string;
  /** Origin and base path, with the trailing slash to which a provider path is appended. */
  readonly baseUrl: string;
  /** The header the provider reads its key from, in lower case. */
  readonly credentialHeader: string;
  /** The value of `credentialHeader` for a provider secret in clear. */
  credentialValue(secret: string): string;
  /** Set on every call, in lower case; a client's header of the same name never wins. */
  readonly extraHeaders: readonly HeaderPair[];
  /** Where the output ceiling stands when neither policy nor path says so. */
  readonly capStyle: CapStyle;
  /** The member to add when a Chat Completions body names no ceiling. */
  readonly capFieldForChat: CapFieldForChat;
  /** Styles this type serves on a direct route. */
  readonly apiStyles: readonly ApiStyle[];
  /** Upstream path of each style a named endpoint can compose for this type; empty for most types. */
  readonly endpointStyles: ReadonlyMap<EndpointStyle, string>;
  /** Null: the type has no cheap authenticated call. */
  readonly probe: CredentialProbe | null;
  /** Paths, `{model}` included, that an empty `allowed_paths` permits. */
  readonly inferencePaths: readonly string[];
  /** The model that is taken on a path, of `inferencePaths`, where a request names none. */
  readonly pathModels: ReadonlyMap<string, string>;
  /** True for the path of a request that the provider serves for nothing. */
  isFree(path: string): boolean;
  /** True where an answer of that style carries the provider's own cost, so no price is needed. */
  reportsCost(style: ApiStyle): boolean;
  /** Who made the model, for analytics, when the price catalog does not know. */
  modelAuthor(model: string): string | null;
}

function dialect(type: ProviderType, facts: DialectFacts): ProviderDialect {
  const { credentialHeader = 'authorization', probePath, costStyles = [], author = null, freePaths = [] } = facts;
  const freePatterns = freePaths.map(patternOf);
  return Object.freeze({
    type,
    label: facts.label,
    baseUrl: facts.baseUrl,
    credentialHeader,
    credentialValue: (secret: string) => (credentialHeader === 'authorization' ? `Bearer ${secret}` : secret),
    extraHeaders: facts.extraHeaders ?? [],
    capStyle: facts.capStyle ?? 'chat_completions',
    capFieldForChat: facts.capFieldForChat ?? 'max_tokens',
    apiStyles: facts.apiStyles ?? API_STYLES,
    endpointStyles: new Map(facts.endpointPaths ?? []),
    probe: probePath === undefined ? null : { path: probePath, headers: facts.probeHeaders ?? [] },
    inferencePaths: [...NAMED_STYLE_PATHS, ...(facts.extraPaths ?? []), ...freePaths],
    pathModels: new Map(facts.pathModels ?? []),
    isFree: (path: string) => freePatterns.some((pattern) => pattern.test(path)),
    reportsCost: (style: ApiStyle) => costStyles.includes(style),
    modelAuthor: (model: string) => (author === 'namespace' ? namespaceOf(model) : author),
  });
}

/** @param path of the table, of letters, digits, `/`, `_` and `:`, in which `{model}` stands for a segment or part of one. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace('{model}', '[^/]+')}$`);
}

/** The part of a marketplace's model name before the slash; null when there is none of a sensible length. */
function namespaceOf(model: string): string | null {
  const slash = model.indexOf('/');
  return slash > 0 && slash <= MAX_AUTHOR_LENGTH ? model.slice(0, slash) : null;
}

const DIALECTS = new Map<ProviderType, ProviderDialect>(
  Object.entries(DIALECT_FACTS).map(([name, facts]) => [name as BuiltInType, dialect(name as BuiltInType, facts)]),
);

/**
 * The dialect of a provider type: one shared frozen object per type.
 *
 * @throws TypeError for a name that is no provider type, which only a value past the type checker can be.
 */
export function dialectOf(type: ProviderType): ProviderDialect {
  const known = DIALECTS.get(type);
  if (known === undefined) throw new TypeError('unknown provider type');
  return known;
}

/** Adds the dialect of a type that has none yet. Only for who defines all of it: see `defineProviderTypes`. */
export function addDialect(type: DefinedType, facts: DialectFacts): void {
  DIALECTS.set(type, dialect(type, facts));
}

/** Every header that some provider type reads its key from, in lower case. */
export function credentialHeaders(): ReadonlySet<string> {
  return new Set([...DIALECTS.values()].map(({ credentialHeader }) => credentialHeader));
}
