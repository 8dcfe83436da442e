import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json } from '../support/upstream-scripts.js';
import { startWorld, type World } from '../support/world.js';

const ANSWER = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [],
  usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
};

let world: World;
let app: { id: string; key: string };

beforeAll(async () => {
  world = await startWorld();
  await world.provider();
  app = await world.app({
    endpoints: {
      summarize: {
        api_style: 'responses',
        provider: 'openai',
        model: 'gpt-4.1',
        params: { instructions: 'Be brief.', text: { format: { type: 'text' } }, temperature: null },
        max_output_tokens: 800,
      },
    },
  });
});

afterAll(() => world.stop());

beforeEach(() => {
  world.upstream.forget();
  world.upstream.script(json(200, ANSWER));
});

const call = (body: object | string, slug = 'summarize', init: RequestInit = {}) =>
  fetch(`${world.baseUrl}/v1/apps/${app.id}/endpoints/${slug}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });

describe('named endpoint of style responses (contract-app 7.1)', () => {
  it('client body → params merged over it, model overwritten, cap injected, everything else as sent', async () => {
    const sent =
      '{"model":"cheap","input":"Hi","seed":1.0,"text":{"verbosity":"low","format":{"type":"json"}},"temperature":0.5}';
    const answer = await call(sent);
    expect([answer.status, await answer.json()]).toEqual([200, ANSWER]);
    const [request] = world.upstream.requests;
    expect(request?.path).toBe('/v1/responses');
    expect(request?.body.toString()).toBe(
      '{"model":"gpt-4.1","input":"Hi","seed":1.0,"text":{"verbosity":"low","format":{"type":"text"}},"temperature":null,"instructions":"Be brief.","max_output_tokens":800}',
    );
  });
});
