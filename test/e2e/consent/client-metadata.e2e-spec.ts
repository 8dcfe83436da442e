import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Log } from '../../../src/common/log/log.js';
import { ClientRefused, OAuthClients } from '../../../src/consent/clients/oauth-clients.service.js';
import { loadEnvironment } from '../../../src/platform/config/environment.js';
import { GuardedRequest } from '../../../src/platform/outbound/guarded-request.js';
import { parseTrustedHosts } from '../../../src/platform/outbound/trusted-hosts.rules.js';
import { loopbackCertificate } from '../../support/client-auth/issuers/issuer-certificate.js';
import { FakeClock } from '../../support/clock.js';
import { clientsFile, startConsentWorld } from '../../support/consent/oauth-client.js';

const HOST = 'client.example.com';
const ADDRESS = '203.0.113.5';
const MINUTE_MS = 60_000;
/** Pause between two bytes of a slow document. */
const DROP_MS = 100;

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const usualCertificates = tls.getCACertificates('default');
let server: Server;
let id: string;
let listener: Listener;
let requests: IncomingMessage[];
let clock: FakeClock;
let logs: Record<string, unknown>[];
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const { certificate, privateKey } = await loopbackCertificate(HOST);
  tls.setDefaultCACertificates([...usualCertificates, certificate]);
  server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    requests.push(request);
    listener(request, response);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  id = `https://${HOST}:${(server.address() as AddressInfo).port}/oauth/client.json`;
});

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

afterAll(() => {
  tls.setDefaultCACertificates(usualCertificates);
  server.closeAllConnections();
  server.close();
});

/** The clients of a service with a scripted resolver for the public name. */
function clientsWith(settings: Record<string, string> = {}, trusted = HOST): OAuthClients {
  requests = [];
  logs = [];
  clock = new FakeClock();
  const outbound = new GuardedRequest({
    trustedHosts: parseTrustedHosts(trusted),
    resolver: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  closers.push(() => outbound.close());
  const log = new Log(clock, 'info', (line) => void logs.push(JSON.parse(line)));
  return new OAuthClients(loadEnvironment(settings), outbound, clock, log);
}

function serve(members: object = {}, type = 'application/json'): void {
  const document = { client_id: id, client_name: 'A client', redirect_uris: ['http://127.0.0.1/callback'], ...members };
  listener = (_request, response) => {
    response.writeHead(200, { 'content-type': type }).end(JSON.stringify(document));
  };
}

async function refusal(find: Promise<unknown>): Promise<string> {
  const error: unknown = await find.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ClientRefused) return error.message;
  throw new Error(`a refusal was expected, not ${String(error)}`);
}

describe('clients identified by the URL of their metadata document', () => {
  it('a document over https → the client; fetched once within five minutes, identity-encoded', async () => {
    serve({ client_name: '<b>Acme</b>' });
    const clients = clientsWith();
    const found = await clients.find(id, ADDRESS);
    expect(found).toMatchObject({ id, name: '<b>Acme</b>', domain: HOST, source: 'cimd' });
    clock.advance(5 * MINUTE_MS - 1);
    expect(await clients.find(id, ADDRESS)).toEqual(found);
    expect(requests.map(({ method, headers }) => [method, headers['accept-encoding']])).toEqual([['GET', 'identity']]);
    clock.advance(1);
    await clients.find(id, ADDRESS);
    expect(requests).toHaveLength(2);
  });

  it('fifty callers at once → one request', async () => {
    serve();
    const clients = clientsWith();
    const found = await Promise.all(Array.from({ length: 50 }, () => clients.find(id, ADDRESS)));
    expect(new Set(found).size).toBe(1);
    expect(requests).toHaveLength(1);
  });

  it.each<[string, Listener, string]>([
    [
      'a redirect, even to a good document',
      (request, response) => {
        if (request.url?.endsWith('?good')) serve();
        response.writeHead(302, { location: `${id}?good` }).end();
      },
      'status 302',
    ],
    ['404', (_request, response) => void response.writeHead(404).end(), 'status 404'],
    ['another success', (_request, response) => void response.writeHead(204).end(), 'status 204'],
    [
      'HTML',
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('{}'),
      'application/json',
    ],
    [
      'more than 64 KiB',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"x":"${'x'.repeat(70_000)}"}`);
      },
      '64 KiB',
    ],
    [
      'compressed without being asked to',
      (_request, response) => {
        const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
        response.writeHead(200, headers).end(gzipSync(JSON.stringify({ client_id: id })));
      },
      'JSON object',
    ],
    ['a broken connection', (_request, response) => void response.destroy(), 'cannot be read'],
  ])('%s → refused with that reason and a log line', async (_name, answer, problem) => {
    listener = answer;
    expect(await refusal(clientsWith().find(id, ADDRESS))).toContain(problem);
    expect(requests).toHaveLength(1);
    expect(logs).toEqual([expect.objectContaining({ message: 'oauth_client_refused', level: 'warn' })]);
  });

  it('another client_id in the document → refused', async () => {
    serve({ client_id: `${id}?other` });
    expect(await refusal(clientsWith().find(id, ADDRESS))).toContain('a client_id other than its own');
  });

  it('a document that arrives slowly → refused after five seconds', async () => {
    let drops = 0;
    listener = async (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      while (!response.destroyed) {
        response.write(' ');
        drops++;
        await sleep(DROP_MS);
      }
    };
    expect(await refusal(clientsWith().find(id, ADDRESS))).toContain('5 seconds');
    // On a busy machine it arrives even more slowly.
    expect(drops * DROP_MS).toBeLessThan(7_000);
  }, 15_000);

  it('a failure → not fetched again for two seconds', async () => {
    listener = (_request, response) => void response.writeHead(503).end();
    const clients = clientsWith();
    await refusal(clients.find(id, ADDRESS));
    clock.advance(1_999);
    await refusal(clients.find(id, ADDRESS));
    expect(requests).toHaveLength(1);
    clock.advance(1);
    serve();
    expect((await clients.find(id, ADDRESS)).id).toBe(id);
  });

  it('one address causes many fetches that never answer → 429; another address is served', async () => {
    serve();
    const served = listener;
    listener = (request, response) => (request.url?.includes('hangs') ? undefined : served(request, response));
    const clients = clientsWith();
    const hanging = Array.from({ length: 5 }, (_, at) => refusal(clients.find(`${id}?hangs=${at}`, ADDRESS)));
    expect(await refusal(clients.find(`${id}?one=more`, ADDRESS))).toContain('too many are being read');
    expect((await clients.find(id, '198.51.100.7')).id).toBe(id);
    for (const told of await Promise.all(hanging)) expect(told).toContain('5 seconds');
  }, 15_000);

  it('a public name at a private address → not called, unless the operator trusts it', async () => {
    serve();
    expect(await refusal(clientsWith({}, '').find(id, ADDRESS))).toContain('may not be called');
    expect(requests).toEqual([]);
  });

  it('plain http → unknown, even for a trusted host', async () => {
    expect(await refusal(clientsWith().find(id.replace('https:', 'http:'), ADDRESS))).toContain('unknown');
    expect(requests).toEqual([]);
  });

  it('documents disabled, or a host that is not admitted → refused without a call', async () => {
    serve();
    const off = clientsWith({ OAUTH_CLIENT_METADATA_ENABLED: 'false' });
    expect(await refusal(off.find(id, ADDRESS))).toContain('unknown');
    const limited = clientsWith({ OAUTH_CLIENT_HOSTS: 'other.example.com' });
    expect(await refusal(limited.find(id, ADDRESS))).toContain(`Clients of ${HOST} are not accepted here`);
    expect(requests).toEqual([]);
    expect((await clientsWith({ OAUTH_CLIENT_HOSTS: `other.example.com, ${HOST}` }).find(id, ADDRESS)).id).toBe(id);
  });
});

describe('registered clients', () => {
  it('the same id as a document → the operator’s entry applies, without a call', async () => {
    const entry = { client_id: id, client_name: 'The operator’s', redirect_uris: ['https://client.example.com/back'] };
    const clients = clientsWith({ OAUTH_CLIENTS_FILE: clientsFile([entry]) });
    expect(await clients.find(id, ADDRESS)).toMatchObject({
      name: 'The operator’s',
      domain: null,
      source: 'registered',
    });
    expect(requests).toEqual([]);
  });

  it.each([
    ['that is not JSON', 'hello', 'must be a JSON list'],
    ['with a wrong entry', [{ client_id: 'a', client_name: 'A', redirect_uris: ['ftp://x'] }], '[0]: redirect_uris[0]'],
  ])('a file %s → the service refuses to start and says where', async (_name, content, problem) => {
    const file = clientsFile(content);
    await expect(startConsentWorld({ env: { REDIS_URL: '', OAUTH_CLIENTS_FILE: file } })).rejects.toThrow(
      `OAUTH_CLIENTS_FILE ${file}: ${problem}`,
    );
  });
});
