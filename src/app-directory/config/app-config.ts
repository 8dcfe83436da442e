import type { CapStyle } from '../../upstreams/api-style.rules.js';
import type { PathMethod } from '../../upstreams/path-methods.rules.js';

/**
 * Whether an application takes calls; a disabled one answers `app_disabled`.
 *
 * Source: docs/reference/management-api.md#application-routes.
 */
export type AppStatus = 'active' | 'disabled';

/** A string-keyed table without a prototype, so that reading any key by index sees own members only. */
export type Table<T> = Readonly<Record<string, T>>;

/** Any value a JSON document can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object kept exactly as it was parsed. */
export interface JsonObject {
  readonly [member: string]: JsonValue;
}

/**
 * What an application is configured to do, in its wire shape and normalised: defaults filled in, issuer and audience
 * as lists, header names in lower case, addresses canonical. Only `parseAppConfig` makes one.
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

/** How callers prove themselves, told apart by `type`. */
export type Authentication = DeviceAuthentication | ApiKeyAuthentication;

/** Mobile applications, proven by device attestation. */
export interface DeviceAuthentication {
  readonly type: 'device_app_attest';
  readonly end_user: IssuerUser | InstallUser;
  readonly app_attest: AppAttest;
}

/** Server applications, proven by an application key; without `end_user` they have no user identity. */
export interface ApiKeyAuthentication {
  readonly type: 'api_key';
  readonly end_user?: HeaderUser | IssuerUser;
}

/** The user is a claim of a verified token. */
export interface IssuerUser {
  readonly source: 'issuer';
  readonly issuer: IssuerConfig;
}

/** The user is the installation that attested itself. */
interface InstallUser {
  readonly source: 'app_install';
}

/** The backend names the user in a request header. */
export interface HeaderUser {
  readonly source: 'header';
  /** Lower case. */
  readonly header: string;
}

/** Where an attested device may have got its key. */
export type AttestEnvironment = 'production' | 'development';

/** The mobile application a device key must belong to. */
export interface AppAttest {
  readonly team_id: string;
  readonly bundle_id: string;
  /** At least one, none twice. */
  readonly environments: readonly AttestEnvironment[];
}

/**
 * How tokens of the application's identity provider are verified.
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
  /** Longest accepted distance between issue and expiry. */
  readonly max_token_lifetime_seconds: number;
  /** Console bookkeeping; decides nothing. */
  readonly provider?: string;
  /** Console bookkeeping; decides nothing. */
  readonly entitlement?: string;
}

/** Where a claim is: a dotted path, or the names on the way to it, in which dots mean nothing. */
export type ClaimPath = string | readonly string[];

/** One condition of the subscription check. */
export type RequiredClaim =
  | { readonly path: ClaimPath; readonly contains: string | readonly string[] }
  | { readonly path: ClaimPath; readonly equals: string | number | boolean };

/** Which providers the proxy may reach, and which model names it replaces. */
export interface Routing {
  readonly providers: ProviderSelection;
  /** Replacement by the name the client sent. */
  readonly model_rewrites: Table<string>;
}

/** Every provider of the account, or those listed by slug or provider type. */
export type ProviderSelection =
  | { readonly mode: 'all' }
  | { readonly mode: 'selected'; readonly selected: Table<SelectedProvider> };

/** What the proxy may do with one selected provider. */
export interface SelectedProvider {
  /** Empty: the inference paths of the provider's type. */
  readonly allowed_paths: readonly AllowedPathEntry[];
  /** Empty: every priced model. */
  readonly allowed_models: readonly string[];
  readonly max_output_tokens?: number;
}

/** A path, alone or with its own rules. */
export type AllowedPathEntry = string | AllowedPathRule;

/** A path with rules of its own: its model, where its output cap stands, its methods. */
export interface AllowedPathRule {
  readonly path: string;
  readonly fixed_model?: string;
  readonly clamp?: CapStyle;
  readonly methods?: readonly PathMethod[];
}

/** What one user and the whole application may use. */
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

/** A named endpoint, told apart by `api_style`. Source: docs/reference/management-api.md#endpoint-configuration. */
export type NamedEndpoint = ResponsesEndpoint | TranscriptionEndpoint;

/** One provider, by slug, and one of its models. */
export interface EndpointTarget {
  readonly provider: string;
  readonly model: string;
}

/** An endpoint of the Responses style. */
export interface ResponsesEndpoint extends EndpointTarget {
  readonly api_style: 'responses';
  /** Merged over the client's body; wins at every depth. */
  readonly params: JsonObject;
  readonly max_output_tokens?: number;
  readonly fallback: readonly EndpointTarget[];
}

/** An endpoint for audio files. */
interface TranscriptionEndpoint extends EndpointTarget {
  readonly api_style: 'transcription';
  readonly fallback: readonly EndpointTarget[];
}
