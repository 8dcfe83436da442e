import type { CapStyle } from '../../upstreams/api-style.rules.js';
import type { PathMethod } from '../../upstreams/path-methods.rules.js';

/**
 * A disabled application refuses calls with `app_disabled`.
 *
 * Source: docs/reference/management-api.md#application-routes.
 */
export type AppStatus = 'active' | 'disabled';

/** A string-keyed table without a prototype, so that indexing reads own members only. */
export type Table<T> = Readonly<Record<string, T>>;

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object exactly as parsed. */
export interface JsonObject {
  readonly [member: string]: JsonValue;
}

/**
 * The configuration of an application in its wire shape, normalised: defaults filled in, issuer and audience as lists,
 * header names in lower case, canonical addresses. Only `parseAppConfig` creates one.
 *
 * Source: docs/reference/management-api.md#application-configuration,
 * docs/reference/management-api.md#application-objects-and-ids.
 */
export interface AppConfig {
  readonly authentication: Authentication;
  readonly routing: Routing;
  readonly limits: Limits;
  /** Keyed by the last segment of the endpoint's address. */
  readonly endpoints: Table<NamedEndpoint>;
}

/** How callers authenticate, discriminated by `type`. */
export type Authentication = DeviceAuthentication | ApiKeyAuthentication;

/** Mobile applications, authenticated by device attestation. */
export interface DeviceAuthentication {
  readonly type: 'device_app_attest';
  readonly end_user: IssuerUser | InstallUser;
  readonly app_attest: AppAttest;
}

/** Server applications, authenticated by an application key; without `end_user` calls have no user. */
export interface ApiKeyAuthentication {
  readonly type: 'api_key';
  readonly end_user?: HeaderUser | IssuerUser;
}

/** The user id is a claim of a verified token. */
export interface IssuerUser {
  readonly source: 'issuer';
  readonly issuer: IssuerConfig;
}

/** The user id is the attested installation. */
interface InstallUser {
  readonly source: 'app_install';
}

/** The backend sends the user id in a request header. */
export interface HeaderUser {
  readonly source: 'header';
  /** Lower case. */
  readonly header: string;
}

/** Environment of a device key. */
export type AttestEnvironment = 'production' | 'development';

/** The mobile application of a device key. */
export interface AppAttest {
  readonly team_id: string;
  readonly bundle_id: string;
  /** At least one, no duplicates. */
  readonly environments: readonly AttestEnvironment[];
}

/**
 * How identity tokens of the application's users are verified.
 *
 * Source: docs/reference/management-api.md#issuer-configuration.
 */
export interface IssuerConfig {
  /** Canonical; https unless the operator trusts the host. */
  readonly jwks_url: string;
  readonly issuer: readonly string[];
  readonly audience: readonly string[];
  readonly user_id_claim: ClaimPath;
  /** Lower case. */
  readonly token_header?: string;
  readonly required_claims: readonly RequiredClaim[];
  /** Maximum time between issue and expiry. */
  readonly max_token_lifetime_seconds: number;
  /** For the console only; has no effect. */
  readonly provider?: string;
  /** For the console only; has no effect. */
  readonly entitlement?: string;
}

/** The path of a claim: a dotted path, or a list of names, in which dots are literal. */
export type ClaimPath = string | readonly string[];

/** One condition of the subscription check. */
export type RequiredClaim =
  | { readonly path: ClaimPath; readonly contains: string | readonly string[] }
  | { readonly path: ClaimPath; readonly equals: string | number | boolean };

/** The providers that the proxy may reach, and model name replacements. */
export interface Routing {
  readonly providers: ProviderSelection;
  /** Keyed by the name that the client sent. */
  readonly model_rewrites: Table<string>;
}

/** Every provider of the account, or those listed by slug or provider type. */
export type ProviderSelection =
  | { readonly mode: 'all' }
  | { readonly mode: 'selected'; readonly selected: Table<SelectedProvider> };

/** The permissions for one selected provider. */
export interface SelectedProvider {
  /** Empty: the inference paths of the provider's type. */
  readonly allowed_paths: readonly AllowedPathEntry[];
  /** Empty: every priced model. */
  readonly allowed_models: readonly string[];
  readonly max_output_tokens?: number;
}

/** A path, alone or with its own rules. */
export type AllowedPathEntry = string | AllowedPathRule;

/** A path with its own rules: its model, the location of its output limit, its methods. */
export interface AllowedPathRule {
  readonly path: string;
  readonly fixed_model?: string;
  readonly clamp?: CapStyle;
  readonly methods?: readonly PathMethod[];
}

/** Limits of each user and of the whole application. */
export interface Limits {
  readonly per_user: ScopeLimits;
  readonly per_app: ScopeLimits;
}

/** The limits of one scope; null is unlimited. */
export interface ScopeLimits {
  readonly requests: {
    readonly per_minute: number | null;
    /** Per UTC day. */
    readonly per_day: number | null;
  };
  readonly spending: {
    /** US dollars per UTC month, a whole number of microdollars. */
    readonly monthly_usd: number | null;
  };
}

/** A named endpoint, discriminated by `api_style`. Source: docs/reference/management-api.md#endpoint-configuration. */
export type NamedEndpoint = ResponsesEndpoint | TranscriptionEndpoint;

/** A provider slug and one of the provider's models. */
export interface EndpointTarget {
  readonly provider: string;
  readonly model: string;
}

/** An endpoint of the Responses style. */
export interface ResponsesEndpoint extends EndpointTarget {
  readonly api_style: 'responses';
  /** Merged over the client's body; overrides it at every depth. */
  readonly params: JsonObject;
  readonly max_output_tokens?: number;
  readonly fallback: readonly EndpointTarget[];
}

/** An endpoint for audio files. */
interface TranscriptionEndpoint extends EndpointTarget {
  readonly api_style: 'transcription';
  readonly fallback: readonly EndpointTarget[];
}
