import { LLMock } from '@copilotkit/aimock';

/** What the simulated model says, and the usage it reports for it. */
export interface SimulatedAnswer {
  readonly text: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface SimulatorOptions {
  /** The only key it accepts; a request that carries any other, even beside it, is answered 401. */
  readonly providerKey: string;
  readonly answer?: SimulatedAnswer;
  /** Between two pieces of a stream, in milliseconds. */
  readonly pieceDelayMs?: number;
}

export type ProviderSimulator = Awaited<ReturnType<typeof startProviderSimulator>>;

export const DEFAULT_ANSWER: SimulatedAnswer = {
  text: 'Good morning. Every word of this answer comes from a simulated model: naïve, 東京, 🙂.',
  inputTokens: 1_234,
  outputTokens: 567,
};

/** A message with this word is streamed piece by piece with pauses, for clients that leave before the end. */
export const SLOWLY = 'slowly';
/** A message with this word is answered 429, in the provider's own error format. */
export const OVERLOADED = 'overloaded';

/** What every recording says. */
const TRANSCRIPTION = {
  text: 'Good morning.',
  usage: {
    type: 'tokens',
    input_tokens: 14,
    input_token_details: { text_tokens: 0, audio_tokens: 14 },
    output_tokens: 4,
    total_tokens: 18,
  },
};
const PIECE_CHARACTERS = 6;
const SLOW_PIECE_DELAY_MS = 25;

/**
 * Starts an independent simulator of the providers' own APIs (OpenAI Responses and Chat Completions, Anthropic
 * Messages, Gemini generateContent; whole and streamed; OpenAI transcriptions) on a free port of the loopback.
 */
export async function startProviderSimulator({
  providerKey,
  answer = DEFAULT_ANSWER,
  pieceDelayMs = 0,
}: SimulatorOptions) {
  const simulator = new LLMock({
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
    auth: { apiKeys: [providerKey] },
    chunkSize: PIECE_CHARACTERS,
  });
  const usage = { prompt_tokens: answer.inputTokens, completion_tokens: answer.outputTokens };
  const response = { content: answer.text, usage };
  simulator.onMessage(OVERLOADED, {
    status: 429,
    error: { message: 'The simulated model is overloaded.', type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  });
  simulator.onMessage(SLOWLY, response, { latency: SLOW_PIECE_DELAY_MS });
  simulator.onMessage(/(?:)/, response, { latency: pieceDelayMs });
  simulator.onTranscription({ transcription: TRANSCRIPTION });
  return {
    /** `http://127.0.0.1:<port>`, no slash at the end. */
    url: await simulator.start(),
    /** Everything accepted so far. The simulator itself hides the values of headers that carry a key. */
    requests: () => simulator.getRequests().map(({ path, headers }) => ({ path, headers })),
    /** The next request is answered 503, in the provider's own error format; those after it as ever. */
    failOnce: () => {
      simulator.nextRequestError(503, { message: 'The simulated model is not available.', type: 'server_error' });
    },
    /** Waits for open connections: stop the gateway first. */
    stop: () => simulator.stop(),
  };
}
