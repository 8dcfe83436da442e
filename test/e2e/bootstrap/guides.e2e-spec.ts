import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { newOrganization } from '../../support/accounts/people.js';
import { ApprovalBrowser } from '../../support/cli/terminal.js';
import { startMobileWorld } from '../../support/client-auth/exchange/mobile-world.js';
import { FakeClock } from '../../support/clock.js';
import {
  ConsentBrowser,
  codeIn,
  OAuthTestClient,
  openedIn,
  startConsentWorld,
} from '../../support/consent/oauth-client.js';
import { eventually } from '../../support/eventually.js';
import { AgentReader } from '../../support/guide/agent-reader.js';
import { Walk } from '../../support/guide/guide.js';
import { type GuideBlock, readGuide } from '../../support/guide/guide-blocks.js';
import { GuideShell } from '../../support/guide/guide-shell.js';
import { PhoneReader } from '../../support/guide/phone-reader.js';
import { WorkflowReader } from '../../support/guide/workflow-reader.js';
import { PROGRAM } from '../../support/gw/pty.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort } from '../../support/platform/gateway-process.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import { type ProviderSimulator, startProviderSimulator } from '../../support/proxy/provider-simulator.js';
import type { Script } from '../../support/proxy/upstream-scripts.js';
import { sineWav } from '../../support/proxy/wav.js';
import { startGatewayWorld } from '../../support/upstream-gateway-world.js';
import { startWorld, testEnvironment, type World } from '../../support/world.js';

const PROVIDER_KEY = 'sk-simulated-provider-of-the-guides';
const ANSWER = { text: 'Hello.', inputTokens: 10, outputTokens: 4 };
const PRINTED_URL = 'http://127.0.0.1:8080';
/** The cost of the README's two calls, in total and each. */
const RECORDED = [
  '"cost_usd":0.0000208',
  ...Array(2).fill(['"cost_usd":0.0000104', '"cost_source":"computed"']).flat(),
];
const RECORDED_MS = 10_000;
const START_MS = 60_000;
const WALK_MS = 120_000;

let ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

function newShell(variables?: Readonly<Record<string, string>>): GuideShell {
  const shell = new GuideShell(variables);
  ends.push(() => shell.stop());
  return shell;
}

async function newSimulator(): Promise<ProviderSimulator> {
  const simulator = await startProviderSimulator({ providerKey: PROVIDER_KEY, answer: ANSWER });
  ends.push(simulator.stop);
  return simulator;
}

/** Where the README leaves its reader after step 2, for a world whose provider `openai` is the simulator. */
async function afterStepTwo(world: World): Promise<{ shell: GuideShell; simulator: ProviderSimulator }> {
  ends.push(world.stop);
  const simulator = await newSimulator();
  world.upstream.script(relayTo(simulator));
  expect(await world.provider({ secret: PROVIDER_KEY })).toMatchObject({ slug: 'openai' });
  return { simulator, shell: newShell({ GATEWAY: world.baseUrl, MANAGEMENT_KEY: world.managementKey }) };
}

/** The world's own upstream keeps what the gateway sends, byte for byte; the simulator answers it. */
function relayTo({ url }: ProviderSimulator): Script {
  return async ({ request, response, body }) => {
    const headers = {
      authorization: `${request.headers.authorization}`,
      'content-type': `${request.headers['content-type']}`,
    };
    const answer = await fetch(url + request.url, { method: 'POST', headers, body: new Uint8Array(await body()) });
    response.writeHead(answer.status, { 'content-type': `${answer.headers.get('content-type')}` });
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
}

/** A database and settings for a gateway that a guide starts with `npm start`, and the port it gets. */
async function startedByGuide(shell: GuideShell) {
  const databaseUrl = await freshDatabase();
  ends.unshift(() => dropDatabase(databaseUrl));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { BOOTSTRAP_MANAGEMENT_KEY: _, ...settings } = testEnvironment(databaseUrl, join(shell.directory, 'data'), '');
  const serve = async (text: string, given: Readonly<Record<string, string>>): Promise<string> => {
    const output = shell.serve(text, { ...given, PORT: String(port) });
    await eventually(() => output().includes('The gateway is ready'), { withinMs: START_MS }).catch((error) => {
      throw new Error(`${error}\n${output()}`);
    });
    return output();
  };
  return { databaseUrl, url, settings, serve };
}

/** `npm ci` has installed this test's own packages; a test cannot run it again. */
function withoutInstall({ text }: GuideBlock): string {
  expect(text).toBe('npm ci\nnpm start\n');
  return 'npm start';
}

describe('README.md', () => {
  it(
    'its commands, from the start to a person’s account → each works as described',
    async () => {
      const shell = newShell();
      const simulator = await newSimulator();
      const { url, settings, serve } = await startedByGuide(shell);
      const values = { MANAGEMENT_KEY: '', OPENAI_API_KEY: PROVIDER_KEY };
      await Walk.through('README.md', {
        shell,
        own: { [PRINTED_URL]: url },
        values,
        steps: {
          'npm ci': async (block) => void withoutInstall(block),
          BOOTSTRAP_MANAGEMENT_KEY: async ({ text }) => {
            const output = await serve(text, { ...settings, REDIS_URL: '' });
            values.MANAGEMENT_KEY = /^gw_mgmt_\w+$/m.exec(output)?.[0] ?? '';
          },
          '"type": "openai", "name": "OpenAI"': async (block, walk) => {
            await walk.run(block);
            const { provider } = JSON.parse(walk.output);
            expect(provider).toMatchObject({ slug: 'openai' });
            await sendToSimulator(shell, provider.id, simulator);
          },
          'node --input-type': async (block, walk) => {
            await walk.run(block);
            expect(walk.output).toBe(`${ANSWER.text}\n`);
          },
          '/usage"': async (block, walk) => {
            const recorded = async () => {
              await walk.run(block);
              const costs = walk.output.match(/"cost_usd":[\d.]+|"cost_source":"\w+"/g);
              return isDeepStrictEqual(costs, RECORDED);
            };
            await eventually(recorded, { withinMs: RECORDED_MS });
          },
          '/v1/admin/session': async (block, walk) => {
            await walk.run(block);
            expect(walk.output).toContain('"email":"ada@example.com"');
            expect(walk.output).toContain('"role":"owner"');
          },
        },
      });
      expect(simulator.requests()).toHaveLength(2);
    },
    WALK_MS,
  );
});

/** The status of an unsigned event; undefined while nobody listens. */
async function statusOf(url: string): Promise<number | undefined> {
  return fetch(url, { method: 'POST', body: '{}' }).then(
    ({ status }) => status,
    () => undefined,
  );
}

/** The reader's provider is the simulator, which the README does not know. */
async function sendToSimulator(shell: GuideShell, id: string, { url }: ProviderSimulator): Promise<void> {
  const { status } = await fetch(`${shell.get('GATEWAY')}/v1/admin/providers/${id}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${shell.get('MANAGEMENT_KEY')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ secret: PROVIDER_KEY, baseUrl: `${url}/` }),
  });
  expect(status).toBe(200);
}

describe('docs/guides', () => {
  it(
    'limits-and-budgets.md → the documented output',
    async () => {
      // The minute does not end between two calls.
      const clock = new FakeClock();
      const { shell } = await afterStepTwo(await startWorld({ clock, env: { REDIS_URL: '' } }));
      await Walk.through('docs/guides/limits-and-budgets.md', { shell });
    },
    WALK_MS,
  );

  it(
    'named-endpoints.md → as its commands print it, and as the provider receives it',
    async () => {
      const world = await startWorld();
      const { shell, simulator } = await afterStepTwo(world);
      writeFileSync(join(shell.directory, 'greeting.wav'), sineWav({ seconds: 1 }));
      await Walk.through('docs/guides/named-endpoints.md', {
        shell,
        steps: {
          '"instructions": "Summarize in one sentence.",\n': async ({ text }) => {
            expect(JSON.parse(world.upstream.requests.at(-1)?.body.toString() ?? '')).toEqual(JSON.parse(text));
          },
          'node --input-type': async (block, walk) => {
            await walk.run(block);
            expect(walk.output).toBe(`${ANSWER.text}\n`);
          },
          '\'{"input": "A long text."}\'': async (block, walk) => {
            simulator.failOnce();
            await walk.run(block);
          },
        },
      });
    },
    WALK_MS,
  );

  it(
    'log-in-from-a-terminal.md → as its commands print it, with a browser for what a person does',
    async () => {
      const world = await startWorld({ env: { REDIS_URL: '' } });
      const { shell } = await afterStepTwo(world);
      const { owner } = await newOrganization(world);
      await Walk.through('docs/guides/log-in-from-a-terminal.md', {
        shell,
        steps: {
          'export OPERATION=': async (block, walk) => {
            const { id, url } = JSON.parse(walk.output);
            const browser = new ApprovalBrowser(world, owner.cookie);
            expect((await browser.approve(id, new URL(url).hash.slice(1))).status).toBe(200);
            await walk.run(block);
          },
        },
      });
    },
    WALK_MS,
  );

  it(
    'configuration-in-files.md → as its commands print it, and each job of its workflow runs as GitHub would',
    async () => {
      const world = await startWorld({ env: { REDIS_URL: '' } });
      const { shell } = await afterStepTwo(world);
      // In place of an installed program.
      shell.export({ 'BASH_FUNC_gw%%': `() { '${process.execPath}' '${PROGRAM}' "$@"\n}` });
      const { key: production } = await newAccount(world.dataSource);
      const values = { GW_MANAGEMENT_KEY: production, OPENAI_API_KEY: PROVIDER_KEY };
      await Walk.through('docs/guides/configuration-in-files.md', {
        shell,
        values,
        steps: {
          '.github/workflows': async (block, walk) => {
            await walk.run(block);
            await new WorkflowReader(shell, '.github/workflows/gateway.yml').expectRuns({
              GW_URL: world.baseUrl,
              ...{ staging: world.managementKey, production },
            });
          },
        },
      });
    },
    WALK_MS,
  );

  it(
    'connect-an-ai-client.md → as its commands print it, with a browser for what a person does',
    async () => {
      const shell = newShell();
      let world: World | undefined;
      let owner: Awaited<ReturnType<typeof newOrganization>>['owner'] | undefined;
      const own: Record<string, string> = {};
      const values = { CODE: '' };
      await Walk.through('docs/guides/connect-an-ai-client.md', {
        shell,
        own,
        values,
        steps: {
          OAUTH_CLIENTS_FILE: async ({ text }) => {
            expect(text).toMatch(/^PUBLIC_URL=\S+ OAUTH_CLIENTS_FILE=clients.json npm start\n$/);
            const clients = join(shell.directory, 'clients.json');
            world = await startConsentWorld({ env: { REDIS_URL: '', OAUTH_CLIENTS_FILE: clients } });
            ends.push(world.stop);
            own[PRINTED_URL] = world.baseUrl;
            ({ owner } = await newOrganization(world));
            writeFileSync(join(shell.directory, 'cookies.txt'), `Set-Cookie: ${owner.cookie}\n`);
            shell.export({ GATEWAY: world.baseUrl });
          },
          'export CODE=': async (block, walk) => {
            if (world === undefined) throw new Error('nothing was started');
            const client = new OAuthTestClient(world);
            const opened = openedIn(await client.authorize(walk.output.trim().split('?')[1] ?? ''));
            const { body } = await new ConsentBrowser(world, owner?.cookie).details(opened);
            const [{ id }] = body.accounts;
            values.CODE = codeIn(await new ConsentBrowser(world, owner?.cookie).allow(opened, id));
            await walk.run(block);
          },
        },
      });
    },
    WALK_MS,
  );

  it(
    'coding-agents.md → as its commands print it: the agents use tools, resume later, and call no other host',
    async () => {
      const world = await startWorld();
      const { shell } = await afterStepTwo(world);
      expect(await world.provider({ type: 'anthropic' })).toMatchObject({ slug: 'anthropic' });
      const reader = await AgentReader.of(world, shell);
      ends.push(() => reader.close());
      await Walk.through('docs/guides/coding-agents.md', reader.reads());
      await reader.expectServed();
    },
    WALK_MS,
  );

  it(
    'webhooks.md → as its commands print it; its endpoint accepts only signed deliveries',
    async () => {
      const world = await startWorld({ env: { REDIS_URL: '' } });
      const { shell } = await afterStepTwo(world);
      const port = String(await freePort());
      let told = '';
      await Walk.through('docs/guides/webhooks.md', {
        shell,
        own: { '127.0.0.1:3000': `127.0.0.1:${port}`, "listen(3000, '127.0.0.1')": `listen(${port}, '127.0.0.1')` },
        steps: {
          'node receiver.mjs': async () => {
            const env = { PATH: process.env.PATH ?? '', WEBHOOK_SECRET: shell.get('WEBHOOK_SECRET') };
            const receiver = spawn(process.execPath, ['receiver.mjs'], { cwd: shell.directory, env });
            ends.push(async () => receiver.kill());
            for (const stream of [receiver.stdout, receiver.stderr]) stream.on('data', (text) => (told += text));
            const url = `http://127.0.0.1:${port}/gateway`;
            await eventually(async () => (await statusOf(url)) === 401, { withinMs: START_MS });
          },
        },
      });
      expect(told).toBe('webhook.test \napp.created Journal\n');
    },
    WALK_MS,
  );

  it(
    'upstream-gateways.md → as its commands print it',
    async () => {
      const { world, stop } = await startGatewayWorld();
      ends.push(stop);
      const shell = newShell({ GATEWAY: world.baseUrl, MANAGEMENT_KEY: world.managementKey });
      const values = { CF_TOKEN: 'a-token-at-the-vendor' };
      await Walk.through('docs/guides/upstream-gateways.md', { shell, values });
    },
    WALK_MS,
  );

  it(
    'call-from-a-phone.md, then users-and-sign-ins.md → as their commands print it, with a simulated phone for what the device does',
    async () => {
      const world = await startMobileWorld();
      const { shell } = await afterStepTwo(world);
      const phone = new PhoneReader(world, shell);
      await Walk.through('docs/guides/call-from-a-phone.md', phone.signsIn());
      await Walk.through('docs/guides/users-and-sign-ins.md', phone.manages());
    },
    WALK_MS,
  );

  it('call-from-a-phone.md, hashes to check your own code against → match its text', () => {
    const guide = readGuide('docs/guides/call-from-a-phone.md');
    const table = /^\| challenge \|[\s\S]*?\n\n/m.exec(guide)?.[0] ?? '';
    const values = [...table.matchAll(/`([\w+/=-]{18,})`/g)].map(([, value = '']) => value);
    const [challenge = '', ofAttestation, app = '', keyId = '', ofAssertion] = values;
    const hash = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
    expect(hash(Buffer.from(challenge, 'base64url'))).toBe(ofAttestation);
    expect(hash(PhoneReader.clientData({ appId: app, challenge, keyId }))).toBe(ofAssertion);
  });
});

describeWithRedis('docs/guides/production.md', () => {
  it(
    'its settings → four ready processes with one Redis',
    async () => {
      const shell = newShell();
      const redis = await reachRedis();
      ends.unshift(redis.stop);
      const { databaseUrl, url, serve } = await startedByGuide(shell);
      await Walk.through('docs/guides/production.md', {
        shell,
        own: {
          'postgres://gateway:password@db.example.com:5432/gateway': databaseUrl,
          'redis://redis.example.com:6379': redis.url,
          '/var/lib/gateway-data': join(shell.directory, 'data'),
          [PRINTED_URL]: url,
        },
        steps: { 'npm ci': async (block) => void (await serve(withoutInstall(block), {})) },
      });
    },
    WALK_MS,
  );
});
