type Reasons = Readonly<Record<string, string>>;

const CALL = 'pairs a call with its result, both within this request';
const CLIENT_TAB = 'of the client’s own browser, whose state it reports';
const COUNT = 'a number of tokens';
const CACHE = 'marks or sizes a cache that is found by the content of the request, never by a name';
const PARENT = 'holds members that are judged';
const SECRET = 'a credential of the client’s own, sent in full';
const FILE_SENT = 'the file itself, in this request';

/** Members with suspect names that name nothing kept, and why, by their name. */
export const EXEMPT_MEMBERS: Reasons = {
  call_id: CALL,
  caller_id: CALL,
  tool_call_id: CALL,
  tool_use_id: CALL,
  tool_id: CALL,
  approval_request_id: 'pairs an approval with its request, which stands in the input or in an owned response',
  tab_id: CLIENT_TAB,
  download_id: CLIENT_TAB,
  user_id: 'the caller’s own name for a person',
  budget_tokens: COUNT,
  max_content_tokens: COUNT,
  numTokens: COUNT,
  input_tokens: COUNT,
  output_tokens: COUNT,
  reasoning_tokens: COUNT,
  total_tokens: COUNT,
  token: 'the text of a token; of a credit it stands in an object that is refused',
  cache_control: CACHE,
  use_cache: CACHE,
  prompt_cache_breakpoint: CACHE,
  prompt_cache_key: CACHE,
  prompt_cache_options: PARENT,
  prompt_cache_retention: CACHE,
  storeContext: 'stands in settings that are refused',
  dataStoreSpecs: 'stands in settings that are refused',
  engine: 'stands in settings that are refused',
  searchTemplate: 'stands in settings that are refused',
  thread: PARENT,
  skills: PARENT,
  fileSearch: PARENT,
  modelArmorConfig: PARENT,
  input_image_mask: PARENT,
  googleServiceAccountConfig: PARENT,
  speakerVoiceConfigs: PARENT,
  multiSpeakerVoiceConfig: PARENT,
  voiceConfig: PARENT,
  prebuiltVoiceConfig: PARENT,
  replicatedVoiceConfig: PARENT,
  voiceName: 'one of the provider’s public voices',
  voiceSampleAudio: 'the recording itself',
  voiceConsentSignature: 'the signature itself',
  known_speaker_references: 'recordings as data URLs',
  file: FILE_SENT,
  file_upload: 'switches an action of the client’s own browser',
  file_type: 'says what a result is made of',
  is_file_update: 'says what a result did',
  tool_references: 'names tools of this request',
  accessToken: SECRET,
  idToken: SECRET,
  authorization_token: SECRET,
  domain_secrets: SECRET,
  continuationToken: 'the state of an unfinished answer, carried by the client, as encrypted reasoning is',
  automaticContinuation: 'a switch of the SDK itself, which never sends it',
  revised_prompt: 'a text',
  enablePromptInjectionDetection: 'a switch',
  enableDataRetention: 'a switch of a search service',
  enableZeroDataRetention: 'a switch of a search service',
  responseModalities: 'what the answer is made of; its tokens are counted by kind',
  modelName: 'of a ranker or a routing, in settings that are refused',
  modelRoutingPreference: 'stands in settings that are refused',
  svg_usage: 'what an earlier picture used',
  frame_count: 'frames of one picture, counted in its output tokens',
};

/** Objects with an `id` that names nothing kept, or that are judged by their holder, by who declares it. */
export const EXEMPT_IDS: Reasons = {
  AcknowledgedSafetyCheck: CALL,
  PendingSafetyCheck: CALL,
  BetaMCPToolUseBlockParam: CALL,
  BetaServerToolUseBlockParam: CALL,
  ServerToolUseBlockParam: CALL,
  BetaToolUseBlockParam: CALL,
  ToolUseBlockParam: CALL,
  ChatCompletionMessageCustomToolCall: CALL,
  ChatCompletionMessageFunctionToolCall: CALL,
  CodeExecutionResult: CALL,
  ExecutableCode: CALL,
  FunctionCall: CALL,
  FunctionResponse: CALL,
  ToolCall: CALL,
  ToolResponse: CALL,
  Audio: 'judged under `audio`',
  ID: 'judged under `voice`',
  BetaContainerParams: 'judged under `container`',
  ContainerParams: 'judged under `container`',
  ResponseConversationParam: 'judged under `conversation`',
  ResponsePrompt: 'judged under `prompt`',
};

/** Members whose name has a model in it, and that name none. */
export const EXEMPT_MODELS: Readonly<Record<string, string>> = {
  modelRoutingPreference: 'of a configuration that is refused whole',
  modelArmorConfig: 'a filter of prompts; its templates are judged',
};
