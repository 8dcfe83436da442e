import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningGateway, startGateway } from '../../src/start.js';
import { ApiClient } from './api-client.js';
import { testEnvironment, type World } from './world.js';

/** One more instance of a world's service, on the same database. */
export interface FurtherInstance {
  readonly baseUrl: string;
  readonly gateway: RunningGateway;
  as(bearer: string | undefined): ApiClient;
  stop(): Promise<void>;
}

/**
 * Starts it.
 *
 * @param world `rootFile` names the certificates that devices are proven with, where the world has any.
 * @param databaseUrl another way to the same database.
 */
export async function startFurtherInstance(
  { baseUrl, managementKey, rootFile = '', ...world }: World & { readonly rootFile?: string },
  databaseUrl = world.databaseUrl,
): Promise<FurtherInstance> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-further-'));
  const environment = testEnvironment(databaseUrl, directory, managementKey);
  const gateway = await startGateway(
    { ...environment, APP_ATTEST_ROOT_CA_FILE: rootFile, TRUSTED_PROXIES: '127.0.0.1' },
    { log: () => undefined },
  );
  const document: unknown = await (await fetch(`${baseUrl}/openapi.json`)).json();
  return {
    baseUrl: gateway.url,
    gateway,
    as: (bearer) => new ApiClient(gateway.url, document, bearer),
    async stop() {
      await gateway.stop('test');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
