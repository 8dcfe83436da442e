import { resolve } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { BootstrapService } from '../accounts/access/bootstrap.service.js';
import type { Clock } from '../common/clock.js';
import { drainServer } from '../common/http/drain-server.js';
import { type Ids, SystemIds } from '../common/ids.js';
import type { LogSink } from '../common/log/log.js';
import { VERSION } from '../common/version.js';
import { ENTITIES } from '../entities.js';
import { ReadinessService } from '../health/readiness.service.js';
import { offersSimulation } from '../platform/config/deployment-settings.js';
import type { Environment } from '../platform/config/environment.js';
import { dataDirProblem, listenProblem } from '../platform/config/start-problem.rules.js';
import { retryUnreachable } from '../platform/database/retry-unreachable.js';
import { type OpenPlatform, openPlatform } from '../platform/open-platform.js';
import type { VaultFactory } from '../platform/vault/create-vault.js';
import { isWorkerProcess } from '../platform/workers/worker-process.js';
import { People } from '../sign-in/people/people.service.js';
import { storedSecrets } from '../stored-secrets.js';
import { defineProviderTypes } from '../upstreams/defined-types/define-provider-types.js';
import type { ProviderTypeDefinition } from '../upstreams/defined-types/provider-type-definition.js';
import { SIMULATED_TYPE } from '../upstreams/simulated/simulated-type.js';
import { createGateway, type GatewayOptions } from './app.setup.js';
import { isLoopbackHost, signUpAccessOf, startBanner } from './start-banner.rules.js';
import { checkSystem } from './start-checks.js';

/** What an extension adds to the service. Source: docs/extending.md. */
export interface Extension {
  /** Modules. */
  readonly imports?: GatewayOptions['imports'];
  /** Provider types, registered for the whole process while this service runs. */
  readonly providerTypes?: readonly ProviderTypeDefinition[];
  /** Creates the vault that replaces the one in the settings. */
  readonly vault?: VaultFactory;
}

/** Replacements and additions for a start. */
export interface StartOptions extends Extension {
  readonly log: LogSink;
  /** Replaces the shared clock, and with it the database time. */
  readonly clock?: Clock;
  readonly ids?: Ids;
}

/** A running service. */
export interface RunningGateway {
  readonly app: NestFastifyApplication;
  /** Listening address, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** For the operator's terminal. */
  readonly banner: string;
  /** `readyz` answers 503 from now on; calls are still served. Idempotent. */
  announceStop(signal: string): void;
  /** Drains open responses, flushes usage records and closes everything; idempotent. */
  stop(signal: string): Promise<void>;
}

/**
 * Starts everything in order: settings, database, migrations, vault, instance lease, application, listener.
 *
 * @param env usually `process.env`.
 * @throws EnvironmentError for invalid settings, for settings that caused a failure of the system or database, and next
 * to another instance unless both share a Redis; Error when a provider type of the extension is invalid.
 */
export async function startGateway(
  env: Readonly<Record<string, string | undefined>>,
  options: StartOptions,
): Promise<RunningGateway> {
  const { log, clock, ids = new SystemIds(), providerTypes = [], vault } = options;
  let removeTypes = () => {};
  const onSettings = async (environment: Environment) => {
    const simulated = offersSimulation(environment) ? [SIMULATED_TYPE] : [];
    removeTypes = defineProviderTypes([...providerTypes, ...simulated], environment.TRUSTED_PRIVATE_HOSTS);
    // The primary process has checked for its workers, which share its port.
    if (!isWorkerProcess()) await checkSystem(environment);
  };
  const opening = openPlatform(env, { clock, ids, log, entities: ENTITIES, storedSecrets, vault, onSettings });
  const opened = await opening.catch((error: unknown) => {
    removeTypes();
    throw error;
  });
  const platform = { ...opened, close: () => opened.close().finally(removeTypes) };
  try {
    return await serve(platform, options.imports);
  } catch (error) {
    await platform.close();
    throw dataDirProblem(error, resolve(platform.parts.environment.DATA_DIR));
  }
}

async function serve(platform: OpenPlatform, imports: StartOptions['imports']): Promise<RunningGateway> {
  const { environment, log, clock, instances, ownAddresses } = platform.parts;
  const retryOptions = {
    clock,
    waitMs: environment.DATABASE_WAIT_SECONDS * 1000,
    onWait: (_attempt: number, error: string) => log.event('database_waiting', { error }),
  };
  await retryUnreachable(() => instances.acquire(), retryOptions);
  const publicUrl = environment.PUBLIC_URL ?? `http://localhost:${environment.PORT}`;
  const app = await createGateway({ parts: platform.parts, publicUrl, imports });
  const bootstrap = app.get(BootstrapService);
  try {
    await app.init();
    await retryUnreachable(() => bootstrap.run(), retryOptions);
    await app.listen(environment.PORT, environment.HOST).catch((error: unknown) => {
      throw listenProblem(error, environment);
    });
  } catch (error) {
    await app.close().catch(() => undefined);
    throw error;
  }
  ownAddresses.listensAt(app.getHttpServer().address());
  void instances.heartbeat();
  const url = await app.getUrl();
  const hasAccount = await retryUnreachable(() => bootstrap.hasAnyOrganization(), retryOptions);
  const isOpen = await retryUnreachable(() => app.get(People).isSignUpOpen(), retryOptions);
  const isPublicUrlMissing = environment.PUBLIC_URL === undefined && !isLoopbackHost(environment.HOST);
  const consoleUrl = environment.PUBLIC_URL ?? (isPublicUrlMissing ? `http://localhost:${new URL(url).port}` : url);
  const signUpAccess = signUpAccessOf(isOpen, environment.ALLOW_ADDITIONAL_REGISTRATIONS);
  const instanceId = instances.id;
  log.event('gateway_started', { instanceId, url, version: VERSION, node: process.versions.node });
  let stopping: Promise<void> | undefined;
  let isAnnounced = false;
  const announceStop = (signal: string) => {
    if (isAnnounced) return;
    isAnnounced = true;
    app.get(ReadinessService).announceStop();
    log.event('gateway_stopping', { instanceId, signal });
  };
  const stop = async (signal: string) => {
    announceStop(signal);
    await drainServer(app.getHttpServer(), environment.DRAIN_TIMEOUT_SECONDS * 1000, clock);
    await app.close();
    await platform.close();
    log.event('gateway_stopped', { instanceId });
  };
  return {
    app,
    url,
    banner: startBanner({ consoleUrl, url, hasAccount, signUpAccess, isPublicUrlMissing }),
    announceStop,
    stop: (signal) => {
      stopping ??= stop(signal);
      return stopping;
    },
  };
}
