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
  const text = await readText(answer, onText);
  return { status: answer.status, text, stages: stagesOf(answer.headers.get('server-timing')) };
}

async function readText(answer: Response, onText: (text: string) => void): Promise<string> {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream || answer.body === null) {
    const whole = await answer.text();
    onText(whole);
    return whole;
  }
  const splitter = new EventSplitter();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    text += splitter.take(piece.value).map(textOfEvent).join('');
    onText(text);
  }
  return text;
}
