import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../../src/bootstrap/start.js';
import type { Clock } from '../../../src/common/clock.js';
import type { LogSink } from '../../../src/common/log/log.js';
import { ApiClient } from '../api-client.js';
import { consoleOriginOf, PRODUCTION_DATABASE_TIMEOUT, type World } from '../world.js';

/** One more instance of a world's service, on the same database. */
export type FurtherInstance = Pick<World, 'baseUrl' | 'consoleOrigin' | 'gateway' | 'as' | 'with' | 'stop'>;

interface FurtherOptions {
  /** In place of the world's own settings. */
  readonly env?: Readonly<Record<string, string>>;
  readonly log?: LogSink;
  readonly clock?: Clock;
}

/**
 * Starts it with the settings of the world, which must have a `REDIS_URL`, and a data directory of its own.
 *
 * @param databaseUrl another way to the same database, which the suite breaks.
 */
export async function startFurtherInstance(
  { check, environment, databaseUrl: ownUrl }: World,
  databaseUrl = ownUrl,
  { env = {}, log = () => undefined, clock }: FurtherOptions = {},
): Promise<FurtherInstance> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-further-'));
  const ownWay = databaseUrl === ownUrl ? {} : PRODUCTION_DATABASE_TIMEOUT;
  const settings = { ...environment, ...ownWay, DATABASE_URL: databaseUrl, DATA_DIR: directory, ...env };
  const clean = () => rmSync(directory, { recursive: true, force: true });
  const gateway = await startGateway(settings, { log, clock }).catch((error: unknown) => {
    clean();
    throw error;
  });
  return {
    baseUrl: gateway.url,
    consoleOrigin: consoleOriginOf(settings, gateway.url),
    gateway,
    as: (bearer) => new ApiClient(gateway.url, check, bearer),
    with: (headers) => new ApiClient(gateway.url, check, undefined, headers),
    async stop() {
      await gateway.stop('test');
      clean();
    },
  };
}
