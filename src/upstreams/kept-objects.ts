import type { ApiStyle } from './api-style.rules.js';

/**
 * Request members that name objects stored at a provider. Every application that shares the provider key could read
 * them, so some may name what was made for their own application and user, and the others nothing.
 * `src/proxy/body/kept-objects.rules.ts` applies this table, and `test/contract/kept-objects.spec.ts` checks it against
 * the types of the official SDKs.
 *
 * Names are in snake case; the camel-case spelling of each also matches. See ADR 0028.
 */

/** Members of the root object. */
export const KEPT_AT_ROOT = {
  /** Refused with any value. */
  any: [
    ...['conversation_id', 'cache_id', 'batch', 'batch_id', 'thread_id'],
    ...['context_id', 'assistant_id', 'agent_id', 'interaction_id', 'environment', 'preset'],
    ...['voice_id', 'user_profile_id', 'workspace_id', 'fallback_credit_token'],
  ],
  /** Refused with an object as the value; a string is content. */
  object: ['prompt'],
  /** Allowed for the owner of the object only; the value is its id, or an object with it. */
  owned: ['previous_response_id', 'previous_interaction_id', 'conversation'],
} as const;

/** Members that name objects at any depth, when the value is a string or a non-empty list. */
export const KEPT_ANYWHERE: readonly string[] = [
  ...['library_ids', 'collection_ids', 'connector_id', 'tunnel_id', 'comparison_response_id'],
  ...['rag_corpus', 'rag_corpora', 'rag_file_ids', 'data_store', 'prompt_template_name', 'response_template_name'],
  ...['gcs_uri', 'output_gcs_uri', 'output_uri_prefix', 'service_account', 'credential_secret'],
  ...['api_key_secret', 'api_key_secret_version', 'environment_id'],
];

/** Members that name an object at any depth by a string; allowed for its owner only. */
export const OWNED_ANYWHERE: readonly string[] = [
  ...['container', 'container_id', 'previous_message_id', 'file_id', 'input_file_id', 'upload_id', 'skill_id'],
  ...['vector_store_id', 'cached_content'],
];

/** The same, of members whose value is a list of such strings. */
export const OWNED_LISTS: readonly string[] = [
  ...['file_ids', 'upload_ids', 'skill_ids', 'vector_store_ids', 'file_search_store_names'],
];

/** Members with complete settings of provider stores; refused as objects too. */
export const KEPT_SETTINGS: readonly string[] = [
  ...['vertex_ai_search', 'vertex_rag_store', 'external_api', 'vertex_ai_search_config', 'rag_store_config'],
];

/**
 * Members whose string is an address or the content itself; addresses with provider schemes or at provider stores are
 * refused.
 */
export const ADDRESSES: readonly string[] = [
  ...['file_uri', 'uri', 'image_url', 'video_url', 'audio_url', 'file_url', 'document_url', 'file_data'],
];

/** Address members that never hold content: the string must be a URL. */
export const URIS: ReadonlySet<string> = new Set(['file_uri', 'fileUri', 'uri']);

/** Members whose nested `url` is such an address. */
export const ADDRESS_HOLDERS: readonly string[] = [
  ...['image_url', 'video_url', 'audio_url', 'file_url', 'document_url', 'source', 'image', 'images', 'video', 'mask'],
];

/** Host name fragments at which a provider stores files under plain URLs. */
export const KEPT_HOSTS: readonly string[] = ['generativelanguage'];

/** Members that show that an object carries its content besides its id. */
export interface Content {
  /** At least one of these must be present. */
  readonly members: readonly string[];
  /** Whether an empty string or list counts as content. */
  readonly mayBeEmpty: boolean;
}

function filled(...members: string[]): Content {
  return { members, mayBeEmpty: false };
}

function present(...members: string[]): Content {
  return { members, mayBeEmpty: true };
}

/** Content of Responses input items by type. An unlisted type needs a non-empty member of any listed type. */
export const ITEM_CONTENT: ReadonlyMap<string, Content> = new Map([
  ['message', present('content')],
  ['reasoning', filled('encrypted_content')],
  ['compaction', filled('encrypted_content')],
  ['compaction_trigger', present('id')],
  ['configuration_update', filled('reasoning', 'text')],
  ['image_generation_call', filled('result')],
  ['code_interpreter_call', filled('code', 'outputs')],
  ['file_search_call', filled('queries')],
  ['web_search_call', filled('action')],
  ['computer_call', filled('action', 'actions')],
  ['computer_call_output', filled('output')],
  ['function_call', present('arguments')],
  ['function_call_output', present('output')],
  ['custom_tool_call', present('input')],
  ['custom_tool_call_output', present('output')],
  ['tool_search_call', present('arguments')],
  ['tool_search_output', present('tools')],
  ['additional_tools', present('tools')],
  ['local_shell_call', filled('action')],
  ['local_shell_call_output', present('output')],
  ['shell_call', filled('action')],
  ['shell_call_output', present('output')],
  ['apply_patch_call', filled('operation')],
  ['apply_patch_call_output', present('output', 'status')],
  ['mcp_list_tools', present('tools')],
  ['mcp_call', present('arguments')],
  ['mcp_approval_request', present('arguments')],
  ['mcp_approval_response', present('approve')],
  ['program', filled('code')],
  ['program_output', present('result')],
]);

/**
 * Styles whose items of `input` carry their content: an id pairs a call with its result, and the provider looks up
 * none.
 */
export const STYLES_WITHOUT_ITEM_IDS: ReadonlySet<ApiStyle> = new Set(['gemini_interactions']);

/** Types of items that are references, whatever other members they have. */
export const REFERENCE_TYPES: ReadonlySet<string> = new Set(['item_reference']);

/** An item without a type but with a role is a message; without a role it is a reference. */
export const UNTYPED_ITEM: Content = present('content');

const NO_CONTENT = filled();

/** Objects under these members name a stored object by `id`, unless they carry its content. Nobody owns a voice. */
export const KEPT_BY_ID: ReadonlyMap<string, Content & { readonly isOwned: boolean }> = new Map([
  ['audio', { ...filled('data'), isOwned: true }],
  ['voice', { ...NO_CONTENT, isOwned: false }],
  ['container', { ...NO_CONTENT, isOwned: true }],
]);

/**
 * Members whose objects or lists are application data: arguments and results of functions, schemas with their defaults
 * and examples, metadata, citations, documents to cite. The provider resolves no reference in them.
 */
export const FREE_OBJECTS: readonly string[] = [
  ...['input', 'args', 'arguments', 'response', 'json', 'data', 'metadata', 'client_metadata'],
  ...['parameters', 'input_schema', 'output_schema', 'schema', 'properties', 'json_schema', 'default', 'example'],
  ...['parameters_json_schema', 'response_schema', 'response_json_schema', 'guided_json'],
];
/** Those that are so at the root too; others count below the root object only. */
export const FREE_AT_ROOT: ReadonlySet<string> = new Set(['metadata', 'client_metadata', 'documents']);
export const FREE_LISTS: readonly string[] = [
  ...['annotations', 'citations', 'results', 'input_examples', 'examples', 'documents'],
];

/** Model names that refer to something stored at the provider; only the operator may name them. */
export const KEPT_MODELS: readonly RegExp[] = [/@preset\//i, /^ft:/i, /(?:^|\/)tunedModels\//i, /^ag:/i];

/** Returns the snake-case and the camel-case spelling of a name. */
export function spellings(name: string): readonly string[] {
  const camel = name.replace(/_([a-z])/g, (_underscore, letter: string) => letter.toUpperCase());
  return camel === name ? [name] : [name, camel];
}
