/**
 * Reads the event stream of a model call and survives a lost connection: it resumes after the last complete event, so
 * it needs text only. `react-native.ts` is the transport of React Native and browsers. The application needs `streams`,
 * see docs/reference/application-api.md#resumable-answers.
 */

interface ModelCall {
  /** Such as `https://ai.example.com/v1/apps/my-app`. */
  readonly app: string;
  /** Path below it, such as `/proxy/openai/v1/responses` or `/endpoints/summarize`. */
  readonly path: string;
  /** Credential, `X-App-Version`, user; not `Content-Type`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  /** One for each call of the user, such as a UUID: a call that is sent again is not made and paid for twice. */
  readonly idempotencyKey: string;
}

interface WireRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface WireEvents {
  onHead(status: number, header: (name: string) => string | null): void;
  /** Called with all text of this answer so far. */
  onText(text: string): void;
}

/** @returns whether the answer is complete; false when its connection was lost. */
export type Transport = (request: WireRequest, events: WireEvents) => Promise<boolean>;

const HEARTBEAT = ': gateway\n\n';
const END_OF_EVENT = /\r\n\r\n|\n\n|\r\r/g;
const PAUSES_MS = [250, 500, 1_000, 2_000, 4_000, 8_000];
const encoder = new TextEncoder();

/**
 * @param onEvent called once for each event, with its text. @throws Error when the rest of the answer is not available.
 */
export async function readStream(call: ModelCall, onEvent: (event: string) => void, send: Transport) {
  let [stream, offset, failures]: [string | null, number, number] = [null, 0, 0];
  for (;;) {
    let [status, state, read]: [number, string | null, number] = [0, null, 0];
    const request: WireRequest = stream === null ? firstRequest(call) : nextRequest(call, stream, offset);
    const isWhole = await send(request, {
      onHead(answered, header) {
        status = answered;
        stream ??= header('x-gateway-stream');
        state = header('x-gateway-stream-state');
      },
      onText(text) {
        if (status !== 200) return;
        for (let end = endOfEvent(text, read); end > read; end = endOfEvent(text, read)) {
          const event = text.slice(read, end);
          read = end;
          failures = 0;
          // It is not part of the answer, and not counted in its offsets.
          if (event === HEARTBEAT) continue;
          offset += encoder.encode(event).length;
          onEvent(event);
        }
      },
    });
    if (isWhole && status === 200) return;
    const isOver = state !== null && state !== 'live' && state !== 'complete';
    const isRefused = status >= 400 && status < 500 && status !== 429;
    const pause = PAUSES_MS[failures++];
    if (isOver || isRefused || pause === undefined) throw new Error(`the answer is ${state ?? status}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function endOfEvent(text: string, from: number): number {
  END_OF_EVENT.lastIndex = from;
  const end = END_OF_EVENT.exec(text);
  return end === null ? from : end.index + end[0].length;
}

function firstRequest({ app, path, headers, body, idempotencyKey }: ModelCall): WireRequest {
  const all = { ...headers, 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
  return { method: 'POST', url: app + path, headers: all, body: JSON.stringify(body) };
}

function nextRequest({ app, headers }: ModelCall, stream: string, offset: number): WireRequest {
  return { method: 'GET', url: `${app}/streams/${stream}?offset=${offset}`, headers };
}
