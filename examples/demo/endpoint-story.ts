import { eventually } from '../../test/support/eventually.js';
import { fact, heading, indented, remark, write } from './screen.js';
import { client, type Demo, ENDPOINT, EVENT_WITHIN_MS, eventOf, QUESTION, showServed } from './story.js';

/**
 * Streams a response through the named endpoint while its first provider fails, and shows that the second one served
 * it.
 */
export async function streamThroughEndpoint(demo: Demo): Promise<void> {
  const { app, simulator, service } = demo;
  heading(`5. Stream through the named endpoint "${ENDPOINT}", whose first provider fails this time`);
  remark(`new OpenAI({ baseURL: '${app.endpointsUrl}', apiKey: '<application key>' })`);
  remark(`responses.create({ input: '…', stream: true }, { path: '/${ENDPOINT}' })`);
  write('\n');
  remark(`> ${QUESTION}`);
  simulator.failOnce();
  const { data: stream, response } = await client(app, app.endpointsUrl)
    .responses.create({ input: QUESTION, stream: true }, { path: `/${ENDPOINT}` })
    .withResponse();
  write(indented('\n'));
  for await (const event of stream) if (event.type === 'response.output_text.delta') write(indented(event.delta));
  write('\n\n');
  fact('Server-Timing', response.headers.get('server-timing') ?? 'missing');
  const event = await eventOf(demo, ENDPOINT);
  for (const { provider_slug, model, status, latency_ms, error } of event.attempts ?? []) {
    fact('Attempt', `${provider_slug}/${model}: ${error ?? status} after ${latency_ms} ms`);
  }
  await showServed(demo, event);
  await eventually(() => service.log('endpoint_fallback').length > 0, { withinMs: EVENT_WITHIN_MS });
  fact('The log says', JSON.stringify(service.log('endpoint_fallback').at(-1)));
}
