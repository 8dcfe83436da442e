import type { components } from '../../console/src/api/schema.d.ts';

type AppConfig = components['schemas']['AppConfig'];

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
/** Paths whose bodies are known here. */
const INFERENCE = /(?:^|\/)(?:chat\/completions|responses|v1\/messages)$/;
const ANTHROPIC_VERSION = { 'anthropic-version': '2023-06-01' };

/** A call to a named endpoint. */
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

/** What an application allows of a provider. */
interface Reach {
  readonly allowed_paths: readonly (string | { readonly path: string; readonly fixed_model?: string })[];
  readonly allowed_models: readonly string[];
}

/** How an application reaches a provider; undefined if it does not. */
export function reachOf(
  { routing: { providers } }: Pick<AppConfig, 'routing'>,
  { slug, type }: { readonly slug: string; readonly type: string },
): Reach | undefined {
  if (providers.mode === 'all') return { allowed_paths: [], allowed_models: [] };
  return providers.selected[slug] ?? providers.selected[type];
}

/**
 * The path and model of a call within what an application allows: those of its example (`gw app snippet`).
 *
 * @param usual path of the type of the provider.
 */
export function callOf(reach: Reach | undefined, usual = CHAT_PATH): { path: string; model: string | undefined } {
  const paths = (reach?.allowed_paths ?? []).map((allowed) =>
    typeof allowed === 'string' ? { path: allowed } : allowed,
  );
  const bare = ({ path }: { readonly path: string }) => path.replace(/^\//, '');
  const chosen: Exclude<Reach['allowed_paths'][number], string> | undefined =
    paths.find((allowed) => bare(allowed) === bare({ path: usual })) ??
    paths.find((allowed) => INFERENCE.test(bare(allowed)));
  return { path: chosen?.path ?? usual, model: chosen?.fixed_model ?? reach?.allowed_models[0] };
}

function headersOf(identity: Identity): CallTarget['headers'] {
  return identity === undefined || identity === '' ? {} : { [identity[0]]: identity[1] };
}

/** The text of a response as it arrives: that of known events, and every other body unchanged. */
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

/** The text that an event of the Responses, Chat Completions or Messages API adds; empty for any other event. */
function deltaOf(data: string): string {
  if (!data.startsWith('{')) return '';
  const { type, delta, choices } = JSON.parse(data);
  if (type === 'response.output_text.delta' && typeof delta === 'string') return delta;
  const text = Object(delta).text ?? Object(Object(choices?.[0]).delta).content;
  return typeof text === 'string' ? text : '';
}
