/** A call of an application, below its address. */
export interface CallTarget {
  readonly path: string;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
}

/** The header that names the end user, and the user. */
type Identity = readonly [header: string, user: string] | '' | undefined;

const MAX_TOKENS = 256;
const CHAT_PATH = 'v1/chat/completions';
const ANTHROPIC_VERSION = { 'anthropic-version': '2023-06-01' };

/** A call of a named endpoint. */
export function endpointTarget(slug: string, prompt: string, identity: Identity): CallTarget {
  return {
    path: `endpoints/${encodeURIComponent(slug)}`,
    body: { input: prompt, stream: true },
    headers: headersOf(identity),
  };
}

/** A call of a provider in the format of its path. @param path of inference; undefined: Chat Completions. */
export function providerTarget(
  slug: string,
  path: string | undefined,
  model: string,
  prompt: string,
  identity: Identity,
): CallTarget {
  const usual = (path ?? CHAT_PATH).replace(/^\//, '');
  const messages = [{ role: 'user', content: prompt }];
  const target = { path: `proxy/${slug}/${usual}`, headers: headersOf(identity) };
  if (usual.endsWith('responses')) return { ...target, body: { model, input: prompt, stream: true } };
  if (!usual.endsWith('v1/messages')) return { ...target, body: { model, messages, stream: true } };
  const body = { model, max_tokens: MAX_TOKENS, messages, stream: true };
  return { ...target, body, headers: { ...target.headers, ...ANTHROPIC_VERSION } };
}

function headersOf(identity: Identity): CallTarget['headers'] {
  return identity === undefined || identity === '' ? {} : { [identity[0]]: identity[1] };
}

/** The text of an answer in the order it comes: that of events as far as they are known, and every other body as it is. */
export async function* streamedText({ headers, body }: Pick<Response, 'headers' | 'body'>): AsyncGenerator<string> {
  const isEvents = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body ?? []) {
    const text = decoder.decode(chunk, { stream: true });
    if (!isEvents) {
      yield text;
      continue;
    }
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data:')) yield deltaOf(line.slice('data:'.length).trim());
  }
}

/** The text that an event of the Responses, Chat Completions or Messages API adds; none of any other event. */
function deltaOf(data: string): string {
  if (!data.startsWith('{')) return '';
  const { type, delta, choices } = JSON.parse(data);
  if (type === 'response.output_text.delta' && typeof delta === 'string') return delta;
  const text = Object(delta).text ?? Object(Object(choices?.[0]).delta).content;
  return typeof text === 'string' ? text : '';
}
