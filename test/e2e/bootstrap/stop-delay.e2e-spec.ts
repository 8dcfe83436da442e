import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const PATIENCE_MS = 120_000;
const NEVER = '3600';

describe('between SIGTERM and the stop', () => {
  let directory: string;
  let databaseUrl: string;
  let gateway: GatewayProcess;
  const managementKey = newManagementKey();

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'gateway-stop-delay-'));
    databaseUrl = await freshDatabase();
  });

  afterEach(async () => {
    await gateway.kill();
    await dropDatabase(databaseUrl);
    rmSync(directory, { recursive: true, force: true });
  });

  async function start(delaySeconds: string): Promise<void> {
    const settings = testEnvironment(databaseUrl, directory, managementKey);
    const own = { ...settings, STOP_DELAY_SECONDS: delaySeconds };
    gateway = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, own);
    await gateway.start();
  }

  /** A call with a separate connection. */
  async function call(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
    const headers = { authorization: `Bearer ${managementKey}`, connection: 'close' };
    const answer = await fetch(`${gateway.baseUrl}${path}`, { headers });
    return { status: answer.status, body: Object(await answer.json()) };
  }

  const isRefused = () =>
    call('/v1/healthz').then(
      () => false,
      () => true,
    );

  async function signalled(signal: NodeJS.Signals): Promise<void> {
    gateway.signal(signal);
    await eventually(() => gateway.written.includes('"gateway_stopping"'), { withinMs: 10_000 });
  }

  it(
    'readyz → 503 at once with its reason; calls → served; then the process stops by itself, exit code 0',
    async () => {
      await start('2');
      expect(await call('/v1/readyz')).toMatchObject({ status: 200, body: { ready: true, reason: null } });
      await signalled('SIGTERM');
      expect(await call('/v1/readyz')).toMatchObject({ status: 503, body: { ready: false, reason: 'stopping' } });
      expect(await call('/v1/admin/apps')).toMatchObject({ status: 200 });
      expect(await gateway.ended()).toBe(0);
      expect(gateway.written).toContain('"gateway_stopped"');
    },
    PATIENCE_MS,
  );

  it(
    'a second SIGTERM, later → skips the wait, and open answers still drain',
    async () => {
      await start(NEVER);
      await signalled('SIGTERM');
      // Signals within the first second count as one.
      const again = setInterval(() => gateway.signal('SIGTERM'), 100);
      await eventually(isRefused, { withinMs: 30_000 }).finally(() => clearInterval(again));
      expect(await gateway.ended()).toBe(0);
      expect(gateway.written).toContain('"gateway_stopped"');
    },
    PATIENCE_MS,
  );

  it(
    'SIGINT after it, in the same second → skips the wait',
    async () => {
      await start(NEVER);
      await signalled('SIGTERM');
      gateway.signal('SIGINT');
      expect(await gateway.ended()).toBe(0);
    },
    PATIENCE_MS,
  );

  it(
    'SIGINT alone → no wait',
    async () => {
      await start(NEVER);
      await signalled('SIGINT');
      expect(await gateway.ended()).toBe(0);
      expect(gateway.written).toContain('"gateway_stopped"');
    },
    PATIENCE_MS,
  );
});
