/**
 * A `fetch` for the official clients of OpenAI, Anthropic and Google Gen AI, which take one as an option: calls survive
 * lost connections, and the client sees one whole answer.
 * The application needs `streams`, see docs/reference/application-api.md#resumable-answers.
 */

type Fetch = typeof globalThis.fetch;
type Bytes = Uint8Array<ArrayBuffer>;

interface ResumingOptions {
  /** The `fetch` below. */
  readonly send?: Fetch;
  /** Before each try that follows a lost connection; the first again after each piece. No more tries than these. */
  readonly pausesMs?: readonly number[];
}

const HEARTBEAT = ': gateway\n\n';
const END_OF_EVENT = /\r\n\r\n|\n\n|\r\r/g;
const PAUSES_MS = [250, 500, 1_000, 2_000, 4_000, 8_000];
/** One character for each byte. */
const oneToOne = new TextDecoder('latin1');

/** @param app such as `https://ai.example.com/v1/apps/my-app`. Requests to other addresses are sent unchanged. */
export function resumingFetch(
  app: string,
  { send = globalThis.fetch, pausesMs = PAUSES_MS }: ResumingOptions = {},
): Fetch {
  return async (input, init) => {
    if (!String(input).startsWith(`${app}/`) || init?.method?.toUpperCase() !== 'POST') return send(input, init);
    const { signal } = init;
    const headers = new Headers(init.headers);
    // The call is sent again where its answer has not begun: with the key it is not made and paid twice.
    if (!headers.has('idempotency-key')) headers.set('idempotency-key', crypto.randomUUID());
    const tries = new Tries(pausesMs, signal);
    let first: Response | undefined;
    while (first === undefined) first = await send(input, { ...init, headers }).catch((error) => tries.next(error));
    const stream = first.headers.get('x-gateway-stream');
    if (stream === null || first.body === null) return first;
    for (const name of ['content-type', 'content-length', 'idempotency-key']) headers.delete(name);
    // The provider's own header is known to its proxy alone.
    const key = headers.get('x-api-key') ?? headers.get('x-goog-api-key');
    if (key !== null && !headers.has('authorization')) headers.set('authorization', `Bearer ${key}`);
    const rest = (offset: number) =>
      send(`${app}/streams/${stream}?offset=${offset}`, { headers, signal: signal ?? null });
    return new Response(streamOf(resumed(first, rest, tries)), first);
  };
}

class Tries {
  #failures = 0;

  constructor(
    private readonly pausesMs: readonly number[],
    private readonly signal: AbortSignal | null | undefined,
  ) {}

  /** A piece has arrived. */
  restart(): void {
    this.#failures = 0;
  }

  /** Waits for the next try. @throws the error when there is none. */
  async next(error: unknown): Promise<undefined> {
    const pauseMs = this.pausesMs[this.#failures++];
    if (pauseMs === undefined || this.signal?.aborted) throw error;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** The bytes of an answer, over lost connections. Events are passed on whole, without the gateway's comments. */
async function* resumed(first: Response, rest: (offset: number) => Promise<Response>, tries: Tries) {
  const isEvents = first.headers.get('content-type')?.startsWith('text/event-stream') === true;
  let [answer, offset]: [Response | undefined, number] = [first, 0];
  for (;;) {
    try {
      answer ??= await rest(offset);
      if (!answer.ok) throw new Error(`the answer cannot be read on: ${answer.status}`);
      for await (const piece of isEvents ? wholeEvents(bytesOf(answer)) : bytesOf(answer)) {
        tries.restart();
        offset += piece.length;
        yield piece;
      }
      return;
    } catch (error) {
      const state = answer?.headers.get('x-gateway-stream-state') ?? 'live';
      const isRefused = answer !== undefined && answer.status >= 400 && answer.status < 500 && answer.status !== 429;
      if (isRefused || (state !== 'live' && state !== 'complete')) throw error;
      await tries.next(error);
      answer = undefined;
    }
  }
}

async function* bytesOf({ body }: Response): AsyncGenerator<Bytes> {
  const reader = body?.getReader();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) yield piece.value;
}

async function* wholeEvents(pieces: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
  let left: Bytes = new Uint8Array();
  for await (const piece of pieces) {
    const bytes = new Uint8Array(left.length + piece.length);
    bytes.set(left);
    bytes.set(piece, left.length);
    const text = oneToOne.decode(bytes);
    let from = 0;
    for (const { index, 0: end } of text.matchAll(END_OF_EVENT)) {
      const to = index + end.length;
      if (text.slice(from, to) !== HEARTBEAT) yield bytes.subarray(from, to);
      from = to;
    }
    left = bytes.subarray(from);
  }
  if (left.length > 0) yield left;
}

function streamOf(pieces: AsyncGenerator<Bytes>): ReadableStream<Bytes> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}
