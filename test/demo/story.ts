import OpenAI from 'openai';
import { eventually } from '../support/eventually.js';
import type { ProviderSimulator } from '../support/provider-simulator.js';
import { type ManagementApi, managementApi } from './management-api.js';
import { dollars, fact, heading, indented, remark, write } from './screen.js';
import type { Service } from './service.js';

/** What the steps of the story share. */
export interface Demo {
  readonly service: Service;
  readonly simulator: ProviderSimulator;
  readonly url: string;
  readonly api: ManagementApi;
  readonly app: DemoApp;
}

interface DemoApp {
  readonly id: string;
  readonly key: string;
  /** The one model it may call. */
  readonly model: string;
  /** Base address for OpenAI clients. */
  readonly baseUrl: string;
}

const MODEL = 'gpt-4.1-mini';
const FORBIDDEN_MODEL = 'gpt-4.1';
const QUESTION = 'What happens to a request in this gateway?';
const EVENT_WITHIN_MS = 5_000;

/** Creates provider, application and key, as an operator would. */
export async function setUp(
  service: Service,
  url: string,
  { simulator, providerKey }: { readonly simulator: ProviderSimulator; readonly providerKey: string },
): Promise<Demo> {
  heading('2. Set it up through the management API');
  const api = managementApi(url, service.managementKey);
  const { provider } = await api.post('providers', {
    type: 'openai',
    name: 'Simulated OpenAI',
    secret: providerKey,
    baseUrl: `${simulator.url}/`,
  });
  fact('Provider', `${provider.slug}, its key sealed in the vault`);
  const access = { allowed_paths: [], allowed_models: [MODEL], max_output_tokens: 500 };
  const { app, api_key } = await api.post('apps', {
    name: 'Demo',
    config: {
      authentication: { type: 'api_key' },
      routing: { providers: { mode: 'selected', selected: { [provider.slug]: access } }, model_rewrites: {} },
    },
  });
  fact('Application', `${app.id}, may call ${MODEL} for at most ${access.max_output_tokens} output tokens`);
  fact('Application key', api_key.key);
  const baseUrl = `${url}/v1/apps/${app.id}/proxy/${provider.slug}/v1`;
  return { service, simulator, url, api, app: { id: app.id, key: api_key.key, model: MODEL, baseUrl } };
}

/** Streams an answer with the official client. */
export async function streamAnswer({ app }: Demo): Promise<void> {
  heading('3. Stream an answer with the official openai SDK');
  remark(`new OpenAI({ baseURL: '${app.baseUrl}', apiKey: '<application key>' })`);
  write('\n');
  remark(`> ${QUESTION}`);
  const { data: stream, response } = await client(app)
    .chat.completions.create({ ...question(MODEL), stream: true })
    .withResponse();
  write(indented('\n'));
  for await (const chunk of stream) write(indented(chunk.choices[0]?.delta.content ?? ''));
  write('\n\n');
  fact('Server-Timing', response.headers.get('server-timing') ?? 'missing');
}

/** Prints the event that the call left behind, and how its cost comes about. */
export async function showEvent({ api, app }: Demo): Promise<void> {
  heading('4. Read the usage event it left behind');
  let events: readonly Record<string, unknown>[] = [];
  await eventually(
    async () => {
      ({ events } = await api.get(`apps/${app.id}/events`));
      return events.length > 0;
    },
    { withinMs: EVENT_WITHIN_MS },
  );
  const [event = {}] = events;
  const { prices } = await api.get('prices');
  const price = prices.openai[MODEL];
  fact('Route', String(event.route));
  fact('Model', String(event.model));
  fact('Status', `${event.status}, first byte after ${event.latency_ms} ms`);
  fact('Input tokens', `${event.input_tokens} at ${dollars(price.input)} per million`);
  fact('Output tokens', `${event.output_tokens} at ${dollars(price.output)} per million`);
  fact('Cost', `${dollars(Number(event.cost_usd))} (${event.cost_source})`);
}

/** Asks for a model that the application may not call, and shows both sides of the refusal. */
export async function refuse({ service, simulator, app }: Demo): Promise<void> {
  heading(`5. Ask for ${FORBIDDEN_MODEL}, which the application does not allow`);
  const error: unknown = await client(app)
    .chat.completions.create(question(FORBIDDEN_MODEL))
    .catch((reason: unknown) => reason);
  if (!(error instanceof OpenAI.APIError)) throw new Error('The gateway did not refuse the request.');
  fact('The client sees', `${error.code}: ${error.message}`);
  await eventually(() => service.log('gateway_error').length > 0, { withinMs: EVENT_WITHIN_MS });
  fact('The log says', JSON.stringify(service.log('gateway_error').at(-1)));
  fact('The provider', `has seen ${simulator.requests().length} request in all, the one above`);
}

function client({ baseUrl, key }: DemoApp): OpenAI {
  return new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 });
}

function question(model: string) {
  return { model, messages: [{ role: 'user' as const, content: QUESTION }] };
}
