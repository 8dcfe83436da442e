/** An answer in the format of the request, as the pieces in which it is sent. */
export interface SimulatedAnswer {
  readonly status: number;
  readonly contentType: string;
  /** More than one: a stream. */
  readonly pieces: readonly string[];
}

/** What a request asks for, in any format. */
interface SimulatedRequest {
  readonly model: string;
  readonly isStream: boolean;
  readonly includesUsage: boolean;
  readonly words: readonly string[];
  readonly isCut: boolean;
  readonly inputTokens: number;
}

const TEXT =
  'Good morning. Guten Morgen. Bonjour. This answer is simulated: the gateway made it up, no provider was called and ' +
  'nothing was charged. Everything else is real: the checks, the limits, the price, the stream and the usage record.';
const WORDS = TEXT.match(/\S+\s*/g) ?? [];
const CHARACTERS_PER_TOKEN = 4;
const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const ID = 'simulated';

/**
 * The answer to a call of Chat Completions or Responses. Each word of it counts as one token.
 *
 * @param path without query, as `/v1/chat/completions`.
 * @param createdSeconds seconds since the Unix epoch.
 */
export function simulatedAnswer(path: string, body: string, createdSeconds: number): SimulatedAnswer {
  const parsed = parsedBody(body);
  if (parsed === undefined) return refusal(400, 'The body is not a JSON object.');
  const request = requestOf(parsed);
  if (path === '/v1/chat/completions') return chatAnswer(request, createdSeconds);
  if (path === '/v1/responses') return responsesAnswer(request, createdSeconds);
  return refusal(404, 'The simulated provider has /v1/chat/completions and /v1/responses.');
}

function requestOf(body: Readonly<Record<string, unknown>>): SimulatedRequest {
  const ceilings = [body.max_completion_tokens, body.max_tokens, body.max_output_tokens].filter(
    (ceiling) => typeof ceiling === 'number',
  );
  const words = WORDS.slice(0, Math.max(1, Math.min(WORDS.length, ...ceilings)));
  const asked = JSON.stringify(body.messages ?? body.input ?? '');
  return {
    model: String(body.model ?? 'simulated-1'),
    isStream: body.stream === true,
    includesUsage: Object(body.stream_options).include_usage === true,
    words,
    isCut: words.length < WORDS.length,
    inputTokens: Math.ceil(asked.length / CHARACTERS_PER_TOKEN),
  };
}

function chatAnswer({ model, isStream, includesUsage, words, isCut, inputTokens }: SimulatedRequest, created: number) {
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: words.length,
    total_tokens: inputTokens + words.length,
  };
  const finish = isCut ? 'length' : 'stop';
  const base = { id: `chatcmpl-${ID}`, created, model };
  if (!isStream) {
    const message = { role: 'assistant', content: words.join(''), refusal: null };
    const choices = [{ index: 0, message, finish_reason: finish, logprobs: null }];
    return whole({ ...base, object: 'chat.completion', choices, usage });
  }
  const chunk = (delta: object, reason: string | null = null) => ({
    ...{ ...base, object: 'chat.completion.chunk' },
    choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }],
  });
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    ...words.map((content) => chunk({ content })),
    chunk({}, finish),
    ...(includesUsage ? [{ ...chunk({}), choices: [], usage }] : []),
  ];
  return stream([...chunks.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n']);
}

function responsesAnswer({ model, isStream, words, isCut, inputTokens }: SimulatedRequest, createdAt: number) {
  const text = words.join('');
  const part = (content: string) => ({ type: 'output_text', text: content, annotations: [] });
  const item = (status: string, content: readonly object[]) => ({
    ...{ id: `msg_${ID}`, type: 'message', role: 'assistant' },
    ...{ status, content },
  });
  const response = (status: string, output: readonly object[], usage: object | null) => ({
    ...{ id: `resp_${ID}`, object: 'response', created_at: createdAt, status, model, output, usage },
    ...{ error: null, incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null },
    ...{ instructions: null, metadata: {}, parallel_tool_calls: true, temperature: 1, tool_choice: 'auto' },
    ...{ tools: [], top_p: 1 },
  });
  const status = isCut ? 'incomplete' : 'completed';
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: words.length,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + words.length,
  };
  const done = response(status, [item(status, [part(text)])], usage);
  if (!isStream) return whole(done);
  const place = { item_id: `msg_${ID}`, output_index: 0, content_index: 0 };
  const events: readonly (readonly [type: string, members: object])[] = [
    ['response.created', { response: response('in_progress', [], null) }],
    ['response.output_item.added', { output_index: 0, item: item('in_progress', []) }],
    ['response.content_part.added', { ...place, part: part('') }],
    ...words.map((delta) => ['response.output_text.delta', { ...place, delta }] as const),
    ['response.output_text.done', { ...place, text }],
    ['response.content_part.done', { ...place, part: part(text) }],
    ['response.output_item.done', { output_index: 0, item: item(status, [part(text)]) }],
    [`response.${status}`, { response: done }],
  ];
  return stream(
    events.map(
      ([type, members], at) => `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: at, ...members })}\n\n`,
    ),
  );
}

function parsedBody(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function whole(body: object, status = 200): SimulatedAnswer {
  return { status, contentType: JSON_TYPE, pieces: [JSON.stringify(body)] };
}

function stream(pieces: readonly string[]): SimulatedAnswer {
  return { status: 200, contentType: STREAM_TYPE, pieces };
}

function refusal(status: number, message: string): SimulatedAnswer {
  return whole({ error: { message, type: 'invalid_request_error', param: null, code: null } }, status);
}
