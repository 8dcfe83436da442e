import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { expect } from '@jest/globals';
import { type Loopback, listening } from '../loopback.js';
import { MessagesApiModel } from '../proxy/messages-api-model.js';
import { ProxyClient } from '../proxy/proxy-client.js';
import { ResponsesApiModel, USED } from '../proxy/responses-api-model.js';
import { json, type Script } from '../proxy/upstream-scripts.js';
import type { World } from '../world.js';
import type { Reader } from './guide.js';
import type { GuideShell } from './guide-shell.js';

const COMMAND = 'cat weather.txt';
/** A prompt, and the result of what the model called: for the first prompt of a session, and for the second. */
const CALLS_OF_AGENT = 4;

/** Programs other than those of `npm ci`, such as newer ones. */
const { CODEX = 'codex', CLAUDE = 'claude' } = process.env;

/** A reader who runs coding agents against models that judge what they are sent, and has no way but the loopback. */
export class AgentReader {
  private readonly reasoning = new ResponsesApiModel({
    name: 'exec_command',
    arguments: JSON.stringify({ cmd: COMMAND }),
  });
  private readonly thinking = new MessagesApiModel({
    name: 'Bash',
    input: { command: COMMAND, description: 'Read the weather' },
  });
  /** Hosts that programs asked the proxy of their environment for: everything beside the loopback. */
  private readonly dialled: string[] = [];

  private constructor(
    private readonly world: World,
    private readonly shell: GuideShell,
    private readonly proxy: Loopback,
  ) {}

  /** A reader of a world that has the two providers. Close it. */
  static async of(world: World, shell: GuideShell): Promise<AgentReader> {
    const server = createServer();
    const reader = new AgentReader(world, shell, await listening(server));
    const dial = ({ url = '' }: IncomingMessage, { socket }: { readonly socket: Duplex | null }) => {
      reader.dialled.push(url);
      socket?.destroy();
    };
    server.on('request', dial);
    server.on('connect', (request, socket) => dial(request, { socket }));
    world.upstream.script(reader.provider);
    return reader;
  }

  close(): Promise<void> {
    return this.proxy.close();
  }

  /** The steps that the guide leaves to its reader. Codex has no sandbox of its own in a container. */
  reads(): Reader {
    const { url } = this.proxy;
    const proxies = Object.entries({ http_proxy: url, https_proxy: url, all_proxy: url, no_proxy: '127.0.0.1' });
    for (const [name, value] of proxies) this.shell.export({ [name]: value, [name.toUpperCase()]: value });
    return {
      shell: this.shell,
      own: {
        'codex exec resume --last': `${CODEX} exec --sandbox danger-full-access resume --last`,
        'codex exec --skip-git-repo-check': `${CODEX} exec --sandbox danger-full-access --skip-git-repo-check`,
        'claude --print': `${CLAUDE} --print`,
      },
    };
  }

  /** Every call was served and priced, the models were sent what they made, and no program called anybody else. */
  async expectServed(): Promise<void> {
    const [app, key] = [this.shell.get('APP'), this.shell.get('APP_KEY')];
    const client = new ProxyClient(this.world, app, key, '', '');
    const events = await client.events(2 * CALLS_OF_AGENT);
    const { prices } = (await this.world.api.get('/v1/admin/prices')).body;
    const costOf = (provider: string, model: string) => {
      const { input, output } = prices[provider][model];
      return Math.round((USED.inputTokens * input + USED.outputTokens * output) * 1_000) / 1e9;
    };
    const served = (provider: string, route: string, model: string) => ({
      ...{ provider, model, status: 'ok', route, cost_source: 'computed', cost_usd: costOf(provider, model) },
      ...{ input_tokens: USED.inputTokens, output_tokens: USED.outputTokens },
    });
    expect(events).toMatchObject([
      ...Array(CALLS_OF_AGENT).fill(served('anthropic', 'anthropic/v1/messages', 'claude-sonnet-4-6')),
      ...Array(CALLS_OF_AGENT).fill(served('openai', 'openai/v1/responses', 'gpt-5.5')),
    ]);
    expect(client.lines('gateway_error')).toEqual([]);
    expect(this.dialled).toEqual([]);
    expectSentBack(this.reasoning.requests, this.reasoning.sealed);
    expectSentBack(this.thinking.requests, this.thinking.signed);
  }

  private readonly provider: Script = (exchange) => {
    const path = exchange.request.url?.split('?')[0];
    if (path === '/v1/responses') return this.reasoning.script(exchange);
    if (path === '/v1/messages') return this.thinking.script(exchange);
    return json(404, { error: { message: 'There is no such path.' } })(exchange);
  };
}

/** The last request of a session has every thought that was made before it. */
function expectSentBack(requests: readonly unknown[], thoughts: readonly string[]): void {
  expect([requests.length, thoughts.length]).toEqual([CALLS_OF_AGENT, CALLS_OF_AGENT]);
  const text = JSON.stringify(requests.at(-1));
  expect(thoughts.map((thought) => text.includes(thought))).toEqual([true, true, true, false]);
}
