import { ApiError } from '../api/api-error';
import { CONSOLE_HEADER } from '../api/client';
import { EventSplitter, type Stage, stagesOf, textOfEvent } from './stream-text.rules';

export interface StreamedCall {
  readonly path: string;
  readonly body: object;
  /** Key or token of the application; it is sent and not kept. */
  readonly credential: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** The text so far. */
  readonly onText: (text: string) => void;
}

export interface StreamedAnswer {
  readonly status: number;
  readonly text: string;
  readonly stages: readonly Stage[];
}

/**
 * Calls as an application and shows the text as it arrives; a response that is not a stream is shown unchanged.
 *
 * @throws ApiError without a response.
 */
export async function streamedCall({
  path,
  body,
  credential,
  headers,
  signal,
  onText,
}: StreamedCall): Promise<StreamedAnswer> {
  const answer = await fetch(path, {
    method: 'POST',
    ...(signal === undefined ? {} : { signal }),
    headers: {
      ...CONSOLE_HEADER,
      'content-type': 'application/json',
      authorization: `Bearer ${credential}`,
      ...headers,
    },
    // The call counts as a call of the application.
    credentials: 'omit',
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : ApiError.offline();
  });
  const resume = (stream: string, offset: number) =>
    fetch(`${appOf(path)}/streams/${stream}?offset=${offset}`, {
      ...(signal === undefined ? {} : { signal }),
      headers: { ...CONSOLE_HEADER, authorization: `Bearer ${credential}`, ...headers },
      credentials: 'omit',
    });
  const text = await readText(answer, { onText, resume, signal });
  return { status: answer.status, text, stages: stagesOf(answer.headers.get('server-timing')) };
}

/** `/v1/apps/{app}` of an address of the application. */
const appOf = (path: string) => path.split('/').slice(0, 4).join('/');

interface TextReading extends Pick<StreamedCall, 'onText' | 'signal'> {
  /** Asks for the rest of an answer that the application keeps. */
  readonly resume: (stream: string, offset: number) => Promise<Response>;
}

const RESUME_EVERY_MS = 1_000;
const MOST_RESUMES = 60;

async function readText(answer: Response, { onText, resume, signal }: TextReading): Promise<string> {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream || answer.body === null) {
    const whole = await answer.text();
    onText(whole);
    return whole;
  }
  const stream = answer.headers.get('x-gateway-stream');
  const splitter = new EventSplitter();
  let text = '';
  const show = (piece: string) => {
    text += splitter.take(piece).map(textOfEvent).join('');
    onText(text);
  };
  let isWhole = await readPieces(answer, show);
  for (let resumes = 0; !isWhole; resumes++) {
    if (stream === null || signal?.aborted || resumes === MOST_RESUMES) throw ApiError.offline();
    await new Promise((resolve) => setTimeout(resolve, RESUME_EVERY_MS));
    splitter.restart();
    const rest = await resume(stream, splitter.offset).catch(() => undefined);
    if (rest !== undefined && !rest.ok) throw ApiError.offline();
    isWhole = rest !== undefined && (await readPieces(rest, show));
    const state = rest?.headers.get('x-gateway-stream-state') ?? 'live';
    if (!isWhole && state !== 'live' && state !== 'complete') throw ApiError.offline();
  }
  return text;
}

/** @returns whether the body came to its end; false when its connection was lost. */
async function readPieces({ body }: Response, show: (piece: string) => void): Promise<boolean> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) show(piece.value);
    return true;
  } catch {
    return false;
  }
}
