import OpenAI from 'openai';
import { eventually } from '../../test/support/eventually.js';
import type { ProviderSimulator } from '../../test/support/proxy/provider-simulator.js';
import { type ManagementApi, managementApi } from './management-api.js';
import { dollars, fact, heading, indented, remark, write } from './screen.js';
import type { Service } from './service.js';

/** The shared state of the steps of the story. */
export interface Demo {
  readonly service: Service;
  readonly simulator: ProviderSimulator;
  readonly url: string;
  readonly api: ManagementApi;
  readonly app: DemoApp;
}

/** The members of a usage event that the story reads. */
interface UsageEvent {
  readonly provider: string;
  readonly model: string;
  readonly route: string;
  readonly endpoint_slug: string | null;
  readonly status: string;
  readonly latency_ms: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly cost_source: string;
  /** Absent or null when there was one target. */
  readonly attempts?: readonly Attempt[] | null;
}

interface Attempt {
  readonly provider_slug: string;
  readonly model: string;
  readonly status: number | null;
  readonly latency_ms: number;
  readonly error: string | null;
}

interface DemoApp {
  readonly id: string;
  readonly key: string;
  /** The one model it may call. */
  readonly model: string;
  /** Base address for OpenAI clients that call the provider. */
  readonly baseUrl: string;
  /** Base address of its named endpoints. */
  readonly endpointsUrl: string;
}

const MODEL = 'gpt-4.1-mini';
const FORBIDDEN_MODEL = 'gpt-4.1';
/** How long records and log lines may take to appear, in milliseconds. */
export const EVENT_WITHIN_MS = 20_000;

/** The prompt of the clients in the story. */
export const QUESTION = 'What happens to a request in this gateway?';

/** The endpoint of the story, and its configuration. */
export const ENDPOINT = 'explain';
const ENDPOINT_CONFIG = {
  api_style: 'responses',
  provider: 'openai',
  model: MODEL,
  params: { instructions: 'Explain it to a newcomer.' },
  max_output_tokens: 500,
  fallback: [{ provider: 'xai', model: 'grok-4.3' }],
};

/** Creates providers, application and key, like an operator. */
export async function setUp(
  service: Service,
  url: string,
  { simulator, providerKey }: { readonly simulator: ProviderSimulator; readonly providerKey: string },
): Promise<Demo> {
  heading('2. Set it up through the management API');
  const api = managementApi(url, service.managementKey);
  const reached = { secret: providerKey, baseUrl: `${simulator.url}/` };
  const { provider } = await api.post('providers', { type: 'openai', name: 'Simulated OpenAI', ...reached });
  const { provider: second } = await api.post('providers', { type: 'xai', name: 'Simulated xAI', ...reached });
  fact('Providers', `${provider.slug} and ${second.slug}, their keys sealed in the vault`);
  const access = { allowed_paths: [], allowed_models: [MODEL], max_output_tokens: 500 };
  const { app, api_key } = await api.post('apps', {
    name: 'Demo',
    config: {
      authentication: { type: 'api_key' },
      routing: { providers: { mode: 'selected', selected: { [provider.slug]: access } }, model_rewrites: {} },
      endpoints: { [ENDPOINT]: ENDPOINT_CONFIG },
    },
  });
  fact('Application', `${app.id}, may call ${MODEL} for at most ${access.max_output_tokens} output tokens`);
  fact('Application key', api_key.key);
  const targets = [ENDPOINT_CONFIG, ...ENDPOINT_CONFIG.fallback].map((target) => `${target.provider}/${target.model}`);
  fact('Named endpoint', `${ENDPOINT}: ${targets.join(', else ')}`);
  const appUrl = `${url}/v1/apps/${app.id}`;
  const baseUrl = `${appUrl}/proxy/${provider.slug}/v1`;
  const endpointsUrl = `${appUrl}/endpoints`;
  return { service, simulator, url, api, app: { id: app.id, key: api_key.key, model: MODEL, baseUrl, endpointsUrl } };
}

/** Streams an answer with the official client. */
export async function streamAnswer({ app }: Demo): Promise<void> {
  heading('3. Stream an answer with the official openai SDK');
  remark(`new OpenAI({ baseURL: '${app.baseUrl}', apiKey: '<application key>' })`);
  write('\n');
  remark(`> ${QUESTION}`);
  const { data: stream, response } = await client(app, app.baseUrl)
    .chat.completions.create({ ...question(MODEL), stream: true })
    .withResponse();
  write(indented('\n'));
  for await (const chunk of stream) write(indented(chunk.choices[0]?.delta.content ?? ''));
  write('\n\n');
  fact('Server-Timing', response.headers.get('server-timing') ?? 'missing');
}

/** Prints the event of the call, and how its cost is computed. */
export async function showEvent(demo: Demo): Promise<void> {
  heading('4. Read the usage event it left behind');
  await showServed(demo, await eventOf(demo, null));
}

/** The event of the call to this endpoint, or directly to the provider. */
export async function eventOf({ api, app }: Demo, endpoint: string | null): Promise<UsageEvent> {
  let found: UsageEvent | undefined;
  await eventually(
    async () => {
      const { events }: { events: readonly UsageEvent[] } = await api.get(`apps/${app.id}/events`);
      found = events.find(({ endpoint_slug }) => endpoint_slug === endpoint);
      return found !== undefined;
    },
    { withinMs: EVENT_WITHIN_MS },
  );
  if (found === undefined) throw new Error('The call left no event.');
  return found;
}

/** Prints who served a call, and how its cost is computed. */
export async function showServed({ api }: Demo, event: UsageEvent): Promise<void> {
  const { prices } = await api.get('prices');
  const price = prices[event.provider][event.model];
  fact('Route', event.route);
  fact('Model', event.model);
  fact('Status', `${event.status}, first byte after ${event.latency_ms} ms`);
  fact('Input tokens', `${event.input_tokens} at ${dollars(price.input)} per million`);
  fact('Output tokens', `${event.output_tokens} at ${dollars(price.output)} per million`);
  fact('Cost', `${dollars(event.cost_usd)} (${event.cost_source})`);
}

/** Asks for a model that the application may not call, and shows both sides of the refusal. */
export async function refuse({ service, simulator, app }: Demo): Promise<void> {
  heading(`6. Ask for ${FORBIDDEN_MODEL}, which the application does not allow`);
  const before = simulator.requests().length;
  const error: unknown = await client(app, app.baseUrl)
    .chat.completions.create(question(FORBIDDEN_MODEL))
    .catch((reason: unknown) => reason);
  if (!(error instanceof OpenAI.APIError)) throw new Error('The gateway did not refuse the request.');
  fact('The client sees', `${error.code}: ${error.message}`);
  await eventually(() => service.log('gateway_error').length > 0, { withinMs: EVENT_WITHIN_MS });
  fact('The log says', JSON.stringify(service.log('gateway_error').at(-1)));
  if (simulator.requests().length !== before) throw new Error('A refused request has reached the provider.');
  fact('The provider', 'has not seen it');
}

/** The official client, configured as in an application. */
export function client({ key }: DemoApp, baseURL: string): OpenAI {
  return new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
}

function question(model: string) {
  return { model, messages: [{ role: 'user' as const, content: QUESTION }] };
}
