import type { ApiStyle, CapFieldForChat, CapStyle, EndpointStyle } from '../api-style.rules.js';
import type { HeaderPair } from '../dialect-table.js';

/**
 * A provider type that an extension defines. Defaults: a bearer key, Chat Completions ceilings, no named endpoints, no
 * test of a key. The catalog has no prices for it, so its instances need custom prices.
 */
export interface ProviderTypeDefinition {
  /** Lower-case letters, digits and dashes; used in requests and usage, and the default slug. */
  readonly name: string;
  /** Display name; 1 to 100 characters. */
  readonly label: string;
  /** Base URL unless an instance overrides it. A private host must be listed in `TRUSTED_PRIVATE_HOSTS`. */
  readonly baseUrl: string;
  /** Styles served on the proxy routes; at least one. */
  readonly apiStyles: readonly ApiStyle[];
  /** Header of the key, in lower case; `authorization` carries it as a bearer token, any other header bare. */
  readonly credentialHeader?: string;
  /** Sent with every call; names in lower case. */
  readonly extraHeaders?: readonly HeaderPair[];
  /** Location of the output ceiling when neither policy nor path determines it. */
  readonly capStyle?: CapStyle;
  /** The member to add when a Chat Completions body has no ceiling. */
  readonly capFieldForChat?: CapFieldForChat;
  /** Path below `baseUrl` for each named-endpoint style it serves. */
  readonly endpointPaths?: readonly (readonly [EndpointStyle, string])[];
  /** Path of a cheap GET that verifies a key. */
  readonly probePath?: string;
  /** Sent with that GET in addition to the key. */
  readonly probeHeaders?: readonly HeaderPair[];
  /** Developer of its models, for analytics; `namespace`: the part of a model name before the slash. */
  readonly author?: string;
  /** Inference paths besides those of the named styles; `{model}`, at most once, matches a segment or part of one. */
  readonly extraPaths?: readonly string[];
}
