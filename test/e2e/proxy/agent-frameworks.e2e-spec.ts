import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, tool as agentTool, OpenAIProvider, Runner } from '@openai/agents';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { ResponsesApiModel } from '../../support/proxy/responses-api-model.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { startWorld, type World } from '../../support/world.js';

const MODEL = 'gpt-5';
const PARAMETERS = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false as const,
};
const WEATHER = { type: 'function' as const, name: 'weather', description: 'The weather', parameters: PARAMETERS };
const QUESTION = 'How is the weather in Bern?';
const ANSWER = 'It is sunny.';

let world: World;
let model: ResponsesApiModel;
let proxy: ProxyClient;
let options: { baseURL: string; apiKey: string };

beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  model = new ResponsesApiModel();
  world.upstream.script(model.script);
  proxy = await ProxyClient.create(world);
  const { appId, key, slug } = proxy;
  options = { baseURL: `${world.baseUrl}/v1/apps/${appId}/proxy/${slug}/v1`, apiKey: key };
});
afterAll(() => world.stop());

/** Whether the second request to the model contains its output from the first. */
function namesItsOwn(): boolean {
  const [first, ...others] = [...model.kept.keys()];
  const text = JSON.stringify(model.requests.at(-1));
  return [first, ...others].some((id) => text.includes(String(id)));
}

describe('tool loops of a reasoning model, with clients in their default settings', () => {
  it('openai: the output sent back', async () => {
    const client = new OpenAI({ ...options, maxRetries: 0 });
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: QUESTION }];
    const tools = [{ ...WEATHER, strict: true }];
    const first = await client.responses.create({ model: MODEL, input, tools });
    input.push(...(first.output as OpenAI.Responses.ResponseInputItem[]));
    for (const item of first.output) {
      if (item.type === 'function_call')
        input.push({ type: 'function_call_output', call_id: item.call_id, output: 'sunny' });
    }
    const second = await client.responses.create({ model: MODEL, input, tools });
    expect([second.output_text, namesItsOwn()]).toEqual([ANSWER, true]);
    input.push(...(second.output as OpenAI.Responses.ResponseInputItem[]), { role: 'user', content: QUESTION });
    expect((await client.responses.create({ model: MODEL, input, tools })).output.at(-1)?.type).toBe('function_call');
  });

  it('openai: streamed, then previous_response_id', async () => {
    const client = new OpenAI({ ...options, maxRetries: 0 });
    const tools = [{ ...WEATHER, strict: true }];
    const first = await client.responses.stream({ model: MODEL, input: QUESTION, tools }).finalResponse();
    const call = first.output.find((item) => item.type === 'function_call');
    const second = await client.responses.create({
      ...{ model: MODEL, tools, previous_response_id: first.id },
      input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: 'sunny' }],
    });
    expect(second.output_text).toBe(ANSWER);
  });

  it('openai: compacted, then continued', async () => {
    const client = new OpenAI({ ...options, maxRetries: 0 });
    const tools = [{ ...WEATHER, strict: true }];
    const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content'];
    const question = { role: 'user' as const, content: QUESTION };
    const first = await client.responses.create({ model: MODEL, input: [question], tools, include, store: false });
    const said = [question, ...first.output] as OpenAI.Responses.ResponseInputItem[];
    const { output } = await client.responses.compact({ model: MODEL, input: said });
    const input = [...output, question] as OpenAI.Responses.ResponseInputItem[];
    const second = await client.responses.create({ model: MODEL, input, tools, include, store: false });
    expect(second.output.at(-1)?.type).toBe('function_call');
    expect(JSON.stringify(model.requests.at(-1))).toContain(model.sealed[1]);
    const [asked, compacted] = await proxy.events(3);
    const { id, created_at, latency_ms, duration_ms } = compacted;
    expect(compacted).toEqual({
      ...{ ...asked, id, created_at, latency_ms, duration_ms },
      ...{ status: 'ok', cost_source: 'computed', route: `${proxy.slug}/v1/responses/compact` },
    });
  });

  it('openai: compacted from a response of another application → 400', async () => {
    const client = new OpenAI({ ...options, maxRetries: 0 });
    const foreign = client.responses.compact({ model: MODEL, previous_response_id: 'resp_000000000000000000000001' });
    expect(await rejectionOf(foreign)).toMatchObject({
      status: 400,
      message: expect.stringContaining('previous_response_id'),
    });
    expect(model.requests).toEqual([]);
  });

  it.each(['whole', 'streamed'])('AI SDK, %s', async (form) => {
    const settings = {
      ...{ model: createOpenAI(options)(MODEL), prompt: QUESTION, stopWhen: stepCountIs(4), maxRetries: 0 },
      tools: {
        weather: tool({
          ...{ description: 'The weather', inputSchema: jsonSchema<{ city: string }>(PARAMETERS) },
          execute: async () => 'sunny',
        }),
      },
    };
    const text = form === 'whole' ? (await generateText(settings)).text : await streamText(settings).text;
    expect([text, namesItsOwn(), model.requests.length]).toEqual([ANSWER, true, 2]);
  });

  it('LangChain, Responses mode', async () => {
    const chat = new ChatOpenAI({
      model: MODEL,
      apiKey: options.apiKey,
      useResponsesApi: true,
      maxRetries: 0,
      configuration: options,
    });
    const bound = chat.bindTools([
      { type: 'function', function: { name: 'weather', description: 'The weather', parameters: PARAMETERS } },
    ]);
    const question = new HumanMessage(QUESTION);
    const first = await bound.invoke([question]);
    const [call] = first.tool_calls ?? [];
    const result = new ToolMessage({ content: 'sunny', tool_call_id: call?.id ?? '' });
    const second = await bound.invoke([question, first, result]);
    expect([second.text, namesItsOwn()]).toEqual([ANSWER, true]);
  });

  it('OpenAI Agents', async () => {
    const weather = agentTool({
      ...{ name: 'weather', description: 'The weather', parameters: PARAMETERS, strict: true },
      execute: async () => 'sunny',
    });
    const agent = new Agent({ name: 'Forecaster', model: MODEL, tools: [weather] });
    const runner = new Runner({ modelProvider: new OpenAIProvider(options), tracingDisabled: true });
    expect((await runner.run(agent, QUESTION)).finalOutput).toBe(ANSWER);
    expect(namesItsOwn()).toBe(true);
    const streamed = await runner.run(agent, QUESTION, { stream: true });
    await streamed.completed;
    expect(streamed.finalOutput).toBe(ANSWER);
  });
});
