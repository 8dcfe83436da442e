import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SystemIds } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { KmsClient } from './kms-client.js';
import { KmsVault } from './kms-vault.js';
import { type Vault, VaultUnreachable } from './vault.js';

type Handler = (request: IncomingMessage, body: Record<string, unknown>, response: ServerResponse) => void;

const CONTEXT = { account: 'org_1', provider: 'p_1' };
const UNREACHABLE = { code: 'provider_unavailable', reason: 'vault_unreachable' };
const UNDECRYPTABLE = { code: 'provider_unavailable', reason: 'secret_undecryptable' };
const closers: (() => Promise<unknown>)[] = [];

/** Wraps a key by appending its context; refuses another context with 422. */
const honest: Handler = (request, body, response) => {
  if (request.url === '/base/wrap') {
    answer(response, 200, { wrapped: JSON.stringify({ key: body.plaintext, context: body.context }) });
    return;
  }
  const held: { key: string; context: unknown } = JSON.parse(String(body.wrapped));
  const fits = JSON.stringify(held.context) === JSON.stringify(body.context);
  answer(response, fits ? 200 : 422, { plaintext: held.key });
};

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function vaultWith(handler: Handler, timeoutMs?: number): Promise<{ vault: Vault; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => handler(request, JSON.parse(Buffer.concat(chunks).toString()), response));
  });
  const port = await listen(server);
  const settings = {
    mode: 'kms',
    url: new Secret(`http://127.0.0.1:${port}/base`),
    token: new Secret('t0ken'),
  } as const;
  const vault = new KmsVault(new KmsClient(settings, timeoutMs), new SystemIds());
  closers.push(
    () => vault.close(),
    async () => server.closeAllConnections(),
    () => new Promise((done) => server.close(done)),
  );
  return { vault, seen };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return (server.address() as AddressInfo).port;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

describe('KmsVault', () => {
  it('seal and open → the same secret; the key service sees data key, context and token, never the secret', async () => {
    const bodies: string[] = [];
    const { vault, seen } = await vaultWith((request, body, response) => {
      bodies.push(JSON.stringify(body));
      honest(request, body, response);
    });
    const blob = await vault.seal(new Secret('sk-very-private'), CONTEXT);
    expect(blob).toMatch(/^kms1\.[\w-]+\.[\w-]{16}\.[\w-]+$/);
    expect((await vault.open(blob, CONTEXT)).reveal()).toBe('sk-very-private');
    expect(seen.map((request) => [request.method, request.url, request.headers.authorization])).toEqual([
      ['POST', '/base/wrap', 'Bearer t0ken'],
      ['POST', '/base/unwrap', 'Bearer t0ken'],
    ]);
    expect(bodies.join()).not.toContain('sk-very');
    expect(bodies[0]).toContain('"context":{"account":"org_1","provider":"p_1","service":"gateway"}');
    expect(vault.needsRewrap(blob)).toBe(false);
  });

  it('two secrets → two data keys', async () => {
    const keys = new Set<unknown>();
    const { vault } = await vaultWith((request, body, response) => {
      keys.add(body.plaintext);
      honest(request, body, response);
    });
    await vault.seal(new Secret('a'), CONTEXT);
    await vault.seal(new Secret('a'), CONTEXT);
    expect(keys.size).toBe(2);
  });

  it('moved blob → undecryptable, even if the service does not check the context', async () => {
    const careless: Handler = (request, body, response) => honest(request, { ...body, context: null }, response);
    for (const handler of [honest, careless]) {
      const { vault } = await vaultWith(handler);
      const blob = await vault.seal(new Secret('sk'), CONTEXT);
      await expect(vault.open(blob, { ...CONTEXT, provider: 'p_2' })).rejects.toMatchObject(UNDECRYPTABLE);
    }
  });

  it('wrapped key of another blob, damaged or foreign blob → undecryptable', async () => {
    const { vault } = await vaultWith(honest);
    const [a, b] = [await vault.seal(new Secret('a'), CONTEXT), await vault.seal(new Secret('b'), CONTEXT)];
    const crossed = [...a.split('.').slice(0, 2), ...b.split('.').slice(2)].join('.');
    for (const blob of [
      crossed,
      `${a}A`,
      a.replace('kms1', 'local1'),
      'kms1...',
      '',
      'kms1._w.AAAAAAAAAAAAAAAA.AAAA',
    ]) {
      await expect(vault.open(blob, CONTEXT)).rejects.toMatchObject(UNDECRYPTABLE);
    }
  });

  it.each<[string, Handler]>([
    ['500', (_q, _b, response) => answer(response, 500, {})],
    ['401', (_q, _b, response) => answer(response, 401, {})],
    ['429', (_q, _b, response) => answer(response, 429, {})],
    ['not JSON', (_q, _b, response) => void response.end('<html>')],
    ['JSON null', (_q, _b, response) => answer(response, 200, null)],
    ['members missing', (_q, _b, response) => answer(response, 200, {})],
    ['members of another type', (_q, _b, response) => answer(response, 200, { wrapped: 1, plaintext: [1] })],
    ['empty members', (_q, _b, response) => answer(response, 200, { wrapped: '', plaintext: '' })],
    [
      'a broken data key, text that is not well formed',
      (_q, _b, response) => answer(response, 200, { wrapped: '\ud800', plaintext: 'AAAA' }),
    ],
    ['more than 64 KiB', (_q, _b, response) => answer(response, 200, { wrapped: 'w'.repeat(65_536), plaintext: 'x' })],
    ['the connection cut', (_q, _b, response) => void response.destroy()],
  ])('service answers %s → unreachable, for seal and for open', async (_name, handler) => {
    const blob = await (await vaultWith(honest)).vault.seal(new Secret('sk'), CONTEXT);
    const { vault } = await vaultWith(handler);
    await expect(vault.seal(new Secret('sk'), CONTEXT)).rejects.toMatchObject(UNREACHABLE);
    await expect(vault.open(blob, CONTEXT)).rejects.toBeInstanceOf(VaultUnreachable);
  });

  it('redirect → not followed, unreachable', async () => {
    const { vault, seen } = await vaultWith(
      (_q, _b, response) => void response.writeHead(307, { location: '/base/wrap2' }).end(),
    );
    await expect(vault.seal(new Secret('sk'), CONTEXT)).rejects.toMatchObject(UNREACHABLE);
    expect(seen).toHaveLength(1);
  });

  it('service rejects wrap → unreachable; nothing undecryptable is sealed', async () => {
    const { vault } = await vaultWith((_q, _b, response) => answer(response, 400, {}));
    await expect(vault.seal(new Secret('sk'), CONTEXT)).rejects.toMatchObject(UNREACHABLE);
  });

  it.each<[string, Handler]>([
    ['before the headers', () => {}],
    ['inside the body', (_q, _b, response) => void response.writeHead(200).write('{"wrapped":"')],
  ])('silence %s → unreachable after the timeout', async (_name, handler) => {
    const { vault } = await vaultWith(handler, 150);
    await expect(vault.seal(new Secret('sk'), CONTEXT)).rejects.toMatchObject({
      ...UNREACHABLE,
      detail: expect.stringContaining('timeout'),
    });
  });

  it('no server at the address → unreachable; the error contains neither address nor token', async () => {
    const { vault } = await vaultWith(honest);
    await vault.close();
    const settings = { mode: 'kms', url: new Secret('http://127.0.0.1:1/hidden'), token: new Secret('t0ken') } as const;
    const deaf = new KmsVault(new KmsClient(settings), new SystemIds());
    closers.push(() => deaf.close());
    for (const broken of [vault, deaf]) {
      const failure: unknown = await broken.seal(new Secret('sk'), CONTEXT).catch((error: unknown) => error);
      if (!(failure instanceof VaultUnreachable)) throw new Error('VaultUnreachable expected');
      expect(failure.reason).toBe('vault_unreachable');
      expect(`${failure.message} ${String(failure.cause)}`).not.toMatch(/127\.0|hidden|t0ken/);
    }
  });
});
