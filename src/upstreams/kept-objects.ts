/**
 * Which members of a request name objects kept at a provider: what one application stored there, all others behind the
 * same provider key could reach. Data alone; `src/proxy/body/kept-objects.rules.ts` judges by it, and
 * `test/contract/kept-objects.spec.ts` holds it against the types of the official SDKs.
 *
 * Names are in snake case; the camel-case spelling of each counts too. See ADR 0028.
 */

/** Members of the request's own object. */
export const KEPT_AT_ROOT = {
  /** Refused with any value. */
  any: [
    ...['conversation', 'conversation_id', 'cached_content', 'cache_id', 'batch', 'batch_id', 'thread_id'],
    ...['context_id', 'assistant_id', 'agent_id', 'interaction_id', 'previous_interaction_id', 'preset'],
    ...['voice_id', 'user_profile_id', 'workspace_id', 'fallback_credit_token'],
  ],
  /** Refused with an object as the value; a text is content. */
  object: ['prompt'],
  /** Passes for who made it. */
  response: ['previous_response_id'],
} as const;

/** Members that name objects wherever they stand, when the value is a text or a list with entries. */
export const KEPT_ANYWHERE: readonly string[] = [
  ...['file_id', 'file_ids', 'upload_id', 'upload_ids', 'container', 'container_id', 'skill_id', 'skill_ids'],
  ...['vector_store_id', 'vector_store_ids', 'file_search_store_names', 'library_ids', 'collection_ids'],
  ...['cached_content', 'connector_id', 'tunnel_id', 'comparison_response_id', 'previous_message_id'],
  ...['rag_corpus', 'rag_corpora', 'rag_file_ids', 'data_store', 'prompt_template_name', 'response_template_name'],
  ...['gcs_uri', 'output_gcs_uri', 'output_uri_prefix', 'service_account', 'credential_secret'],
  ...['api_key_secret', 'api_key_secret_version'],
];

/** Members that hold whole settings for stores of the provider: refused as objects, too. */
export const KEPT_SETTINGS: readonly string[] = ['vertex_ai_search', 'vertex_rag_store', 'external_api'];

/** Members whose text is an address or the content itself; the provider's own schemes and stores are refused. */
export const ADDRESSES: readonly string[] = [
  ...['file_uri', 'image_url', 'video_url', 'audio_url', 'file_url', 'document_url', 'file_data'],
];

/** The addresses that are never content: no text but a URL will do. */
export const URIS: ReadonlySet<string> = new Set(['file_uri', 'fileUri']);

/** Members under which `url` is such an address. */
export const ADDRESS_HOLDERS: readonly string[] = [
  ...['image_url', 'video_url', 'audio_url', 'file_url', 'document_url', 'source', 'image', 'images', 'video', 'mask'],
];

/** Hosts, or parts of them, at which a provider keeps files under plain URLs. */
export const KEPT_HOSTS: readonly string[] = ['generativelanguage'];

/** What an object carries beside its id when it is no mere reference. */
export interface Content {
  /** At least one of these is there. */
  readonly members: readonly string[];
  /** Whether an empty text or list is content. */
  readonly mayBeEmpty: boolean;
}

function filled(...members: string[]): Content {
  return { members, mayBeEmpty: false };
}

function present(...members: string[]): Content {
  return { members, mayBeEmpty: true };
}

/** The items of a Responses input by their type. What is not listed needs one member of any of these, not empty. */
export const ITEM_CONTENT: ReadonlyMap<string, Content> = new Map([
  ['message', present('content')],
  ['reasoning', filled('encrypted_content', 'content', 'summary')],
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

/** The types of items that are references, whatever stands beside the id. */
export const REFERENCE_TYPES: ReadonlySet<string> = new Set(['item_reference']);

/** An item without a type is a message, else a reference. */
export const UNTYPED_ITEM: Content = present('content');

const NO_CONTENT = filled();

/** Objects under these members name a kept object by their `id`, unless they carry its content. */
export const KEPT_BY_ID: ReadonlyMap<string, Content> = new Map([
  ['audio', filled('data')],
  ['voice', NO_CONTENT],
  ['container', NO_CONTENT],
]);

/** Members whose objects or lists are the application's own data, or citations: nothing in them is acted on. */
export const FREE_OBJECTS: readonly string[] = [
  ...['input', 'args', 'response', 'parameters', 'input_schema', 'metadata', 'properties'],
];
export const FREE_LISTS: readonly string[] = ['annotations', 'results'];

/** Names of models that stand for something kept at the provider; the operator alone may name them. */
export const KEPT_MODELS: readonly RegExp[] = [/@preset\//i, /^ft:/i, /(?:^|\/)tunedModels\//i, /^ag:/i];

/** Both spellings of a name. */
export function spellings(name: string): readonly string[] {
  const camel = name.replace(/_([a-z])/g, (_underscore, letter: string) => letter.toUpperCase());
  return camel === name ? [name] : [name, camel];
}
