import type { ApiStyle, CapFieldForChat, CapStyle, EndpointStyle } from '../api-style.rules.js';
import type { HeaderPair } from '../dialect-table.js';

/**
 * A provider type that an extension brings along. What is absent is as the common kind has it: a bearer key, Chat
 * Completions ceilings, no named endpoints, no test of a key. The catalog has no prices for it, so its instances need
 * custom ones.
 */
export interface ProviderTypeDefinition {
  /** Lower-case letters, digits and dashes: what requests call it, what usage shows, and the usual slug. */
  readonly name: string;
  /** For people; 1 to 100 characters. */
  readonly label: string;
  /** Where it is, unless an instance says otherwise. A private host must be one of `TRUSTED_PRIVATE_HOSTS`. */
  readonly baseUrl: string;
  /** The styles it serves on the proxy's routes; at least one. */
  readonly apiStyles: readonly ApiStyle[];
  /** The header it reads its key from, in lower case; `authorization` carries it as a bearer token, any other bare. */
  readonly credentialHeader?: string;
  /** Sent with every call, names in lower case. */
  readonly extraHeaders?: readonly HeaderPair[];
  /** Where the output ceiling stands when neither policy nor path says so. */
  readonly capStyle?: CapStyle;
  /** The member to add when a Chat Completions body names no ceiling. */
  readonly capFieldForChat?: CapFieldForChat;
  /** The path, below `baseUrl`, of each style of named endpoints that it serves. */
  readonly endpointPaths?: readonly (readonly [EndpointStyle, string])[];
  /** The path of a cheap GET that proves a key. */
  readonly probePath?: string;
  /** Sent with that GET beside the key. */
  readonly probeHeaders?: readonly HeaderPair[];
  /** Who makes its models, for analytics; `namespace`: what stands before the slash of a model's name. */
  readonly author?: string;
  /** Inference paths beside those of the named styles; `{model}`, at most once, stands for a segment or part of one. */
  readonly extraPaths?: readonly string[];
}
