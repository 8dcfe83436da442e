import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import type { ApiClient } from '../../support/api-client.js';
import { ApprovalBrowser } from '../../support/cli/terminal.js';
import { SERVICE_ACCOUNT } from '../../support/client-auth/devices/play-server.js';
import { Gw } from '../../support/gw/gw.js';
import { PROGRAM } from '../../support/gw/pty.js';
import { type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { event, json, type Script, sse } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/cli.md'), 'utf8');
const EXAMPLES = [...DOCUMENT.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'));
const RESPONSE = {
  id: 'r',
  object: 'response',
  model: 'gpt-4.1-mini',
  usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
};
const ANSWER = sse([
  event({ type: 'response.output_text.delta', delta: 'Hello' }),
  event({ type: 'response.completed', response: RESPONSE }),
]);
/** Key tests get a list, calls a stream. */
const PROVIDER: Script = (exchange) => (exchange.request.method === 'GET' ? json(200, { data: [] }) : ANSWER)(exchange);

let world: World;
let upstream: ScriptedUpstream;
let consoleOrigin: string;

beforeAll(async () => {
  upstream = await startUpstream({ script: PROVIDER });
  world = await startWorld();
  ({ consoleOrigin } = (await world.api.get('/v1/cli/capabilities')).body);
});
afterAll(async () => {
  await world.stop();
  await upstream.close();
});

/** An account as in the examples, and a home directory in which to run commands. */
async function prepared(line: string): Promise<{ gw: Gw; environment: Record<string, string> }> {
  const { key, organizationId } = await newAccount(world.dataSource);
  const api = world.as(key);
  const gw = new Gw({ GW_URL: world.baseUrl, GW_MANAGEMENT_KEY: key });
  const secret = 'sk-of-a-provider-4711';
  await api.post('/v1/admin/providers', { type: 'openai', name: 'OpenAI', secret, baseUrl: `${upstream.url}/` });
  await api.post('/v1/admin/provider-gateways', { type: 'vercel', name: 'edge', token: 'token-of-the-edge' });
  const config = {
    authentication: { type: 'api_key', ...(line.includes('app user') && { end_user: { source: 'header' } }) },
    routing: { providers: { mode: 'all' }, model_rewrites: {} },
    endpoints: { summary: { provider: 'openai', model: 'gpt-4.1-mini', api_style: 'responses' } },
  };
  const { body } = await api.post('/v1/admin/apps', { name: 'Notes', handle: 'notes', config });
  writeFileSync(join(gw.home, 'app.json'), JSON.stringify({ name: 'Notes', config }));
  writeFileSync(join(gw.home, 'service-account.json'), JSON.stringify(SERVICE_ACCOUNT));
  if (line.includes('gw app enforce')) {
    const app_attest = { team_id: 'ABCDE12345', bundle_id: 'com.example.journal', mode: 'observe' };
    const end_user = { source: 'app_install' };
    const authentication = { type: 'device_proofs', end_user, proofs: { app_attest } };
    await api.post('/v1/admin/apps', { name: 'Journal', handle: 'journal', config: { ...config, authentication } });
  }
  const deliveries = line.includes('gw webhook') ? await deliveriesOf(api) : [];
  if (/user (?:show|export|unblock)/.test(line)) {
    await api.post(`/v1/admin/apps/${body.app.id}/users/ada/block`);
  }
  if (/\b(?:plan|apply) gateway/.test(line)) expect((await gw.run('export gateway --json')).exitCode).toBe(0);
  if (line.includes(' infra') || line.includes('plan.json')) {
    expect((await gw.run('export infra --json')).exitCode).toBe(0);
    mkdirSync(join(gw.home, 'infra/environments'));
    writeFileSync(join(gw.home, 'infra/environments/production.yaml'), `url: ${world.baseUrl}\n`);
  }
  if (line.includes('apply plan.json')) {
    expect((await gw.run('plan infra --env production --out plan.json --json')).exitCode).toBe(0);
  }
  const operation = line.includes('OPERATION') ? await approvedOperation(gw) : '';
  mkdirSync(join(gw.home, 'bin'));
  writeFileSync(join(gw.home, 'bin/gw'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(join(gw.home, 'bin/gw'), 0o755);
  const environment = {
    ...{ HOME: gw.home, XDG_STATE_HOME: gw.home, PATH: `${join(gw.home, 'bin')}:/usr/bin:/bin`, GW_URL: world.baseUrl },
    ...{ GW_MANAGEMENT_KEY: key, GW_APP_KEY: body.api_key.key, OPERATION: operation, OPENAI_API_KEY: secret },
    ...{ CF_TOKEN: 'token-of-cloudflare', VERCEL_TOKEN: 'token-of-vercel', ACCOUNT: organizationId },
    DELIVERY: String(deliveries[0]?.id),
  };
  return { gw, environment };
}

/** The deliveries of a webhook `on-call`, to which a test was sent. */
async function deliveriesOf(api: ApiClient): Promise<readonly { readonly id: number }[]> {
  const { webhook } = (await api.post('/v1/admin/webhooks', { url: `${upstream.url}/`, name: 'on-call' })).body;
  const { body } = await api.post(`/v1/admin/webhooks/${webhook.id}/test`);
  return [body.delivery];
}

/** An operation whose browser step is finished. */
async function approvedOperation(gw: Gw): Promise<string> {
  const { json: document } = await gw.run(
    'provider-gateway add --type vercel --name later --browser --no-input --json',
  );
  const { id, url } = document.result.operation;
  const approved = await new ApprovalBrowser(world).approve(id, new URL(url).hash.slice(1), {
    secret: 'sk-typed-by-a-person',
  });
  expect(approved.status).toBe(200);
  return id;
}

/** A line that a shell only splits at its spaces. */
const PLAIN = /^gw [\w ./:=,@-]+$/;

/** Types a line into a shell, if it needs one. */
async function typed(
  line: string,
  gw: Gw,
  env: Record<string, string>,
): Promise<{ exitCode: number | null; output: string }> {
  if (PLAIN.test(line)) {
    const { exitCode, stdout, stderr } = await gw.run(line.slice('gw '.length), '', env);
    return { exitCode, output: stdout + stderr };
  }
  return new Promise((resolve) => {
    execFile('/bin/bash', ['-o', 'pipefail', '-c', line], { cwd: gw.home, env }, (error, stdout, stderr) => {
      resolve({ exitCode: Number(error?.code ?? 0), output: stdout + stderr });
    });
  });
}

describe('docs/cli.md', () => {
  it('has examples of every command', () => {
    const commands = [...DOCUMENT.matchAll(/^##+ gw ([a-z -]+)$/gm)].map(([, name = '']) => name);
    const leaves = commands.filter((name) => !commands.some((other) => other.startsWith(`${name} `)));
    expect(leaves.length).toBeGreaterThan(40);
    expect(leaves.filter((name) => !EXAMPLES.some((line) => line.includes(`gw ${name}`)))).toEqual([]);
  });

  it.each(EXAMPLES)('%s → exit 0, or 4 if only a signed-in person may', async (line) => {
    const { gw, environment } = await prepared(line);
    if (line.startsWith('gw account logout')) {
      await gw.run('deployment connect --key-stdin', environment.GW_MANAGEMENT_KEY ?? '');
      environment.GW_MANAGEMENT_KEY = '';
    }
    if (line.startsWith('gw profile')) {
      await gw.run('deployment connect --key-stdin --profile staging', environment.GW_MANAGEMENT_KEY ?? '');
    }
    const { exitCode, output } = await typed(line, gw, environment);
    const isOfPerson = line.startsWith('gw member ');
    expect({ exitCode, output }).toEqual({ exitCode: isOfPerson ? 4 : 0, output: expect.any(String) });
    if (isOfPerson) expect(output).toContain(`${consoleOrigin}/members`);
    gw.remove();
  });
});
