import { flushCompileCache } from 'node:module';
import { SystemClock } from '../common/clock.js';
import { SystemIds } from '../common/ids.js';
import { Log } from '../common/log/log.js';
import {
  type Environment,
  EnvironmentError,
  loadEnvironment,
  processEnvironment,
} from '../platform/config/environment.js';
import { openDatabase } from '../platform/open-platform.js';
import { stopDelay, stopRequest } from '../platform/stop-request.js';
import { WorkerPool, WorkerStartError } from '../platform/workers/worker-pool.js';
import { isWorkerProcess, onStopRequest, reportReady, workerLauncher } from '../platform/workers/worker-process.js';
import { collectStart, keepTaskLayout } from './engine.js';
import { engineOptionsProblem } from './engine-options.rules.js';
import { type Extension, startGateway } from './start.js';
import { checkSystem } from './start-checks.js';

/** The service as this process stops it. */
interface Service {
  /** For the operator's terminal. */
  readonly banner: string;
  /** Makes every instance not ready, while it serves; idempotent. */
  announceStop(signal: string): void;
  /** Idempotent. @returns whether it stopped cleanly. */
  stop(signal: string): Promise<boolean>;
}

/**
 * Runs the service as a process: starts it, reports a failed start, stops it on a signal. With `WORKERS` above 1 this
 * process starts and supervises that many worker processes.
 *
 * @param extension added to the service in every process.
 */
export async function runProcess(extension: Extension = {}): Promise<void> {
  if (isWorkerProcess()) return runWorker(extension);
  const environment = await exitOnError(async () => loadEnvironment(processEnvironment()));
  // A start that is ended by a signal would leave the embedded database behind; any other leaves nothing.
  const early = environment.DATABASE_URL === undefined ? stopRequest() : undefined;
  const service = await exitOnError(() =>
    environment.WORKERS > 1 ? startWorkers(environment) : startService(extension),
  );
  // Before the banner: who reads it may ask for the stop at once.
  const request = early ?? stopRequest();
  process.stderr.write(service.banner);
  stopOn(request, service, environment);
}

/** Runs a worker. It ends when the primary process requests it or has ended. */
async function runWorker(extension: Extension): Promise<void> {
  let service: Service | undefined;
  const started = () => service ?? process.exit(0);
  onStopRequest(
    (signal) => started().announceStop(signal),
    (signal) => void end(started(), signal),
  );
  service = await exitOnError(() => startService(extension));
  stopOn(stopRequest(), service, loadEnvironment(processEnvironment()));
  reportReady(service.banner);
}

async function startService(extension: Extension): Promise<Service> {
  const gateway = await startGateway(processEnvironment(), { ...extension, log: writeLine });
  keepTaskLayout();
  collectStart();
  flushCompileCache();
  const problem = engineOptionsProblem(process.versions.node, process.execArgv);
  if (problem) gateway.app.get(Log).event('engine_options_missing', { problem });
  return { ...gateway, stop: (signal) => gateway.stop(signal).then(() => true) };
}

/** @throws EnvironmentError when the workers would have no Redis to share counts, and as `checkSystem`. */
async function startWorkers(environment: Environment): Promise<Service> {
  const { WORKERS, REDIS_URL, LOG_LEVEL } = environment;
  if (REDIS_URL === undefined) {
    throw new EnvironmentError(
      'REDIS_URL must be set where WORKERS is above 1: several processes count together through Redis',
    );
  }
  const clock = new SystemClock();
  const log = new Log(clock, LOG_LEVEL, writeLine);
  await checkSystem(environment);
  // The primary holds the embedded database, so that it does not stop with a worker.
  const database = await openDatabase(environment, new SystemIds(), log);
  const pool = new WorkerPool({ workers: WORKERS, fork: workerLauncher(), clock, log });
  const banner = await pool.start().catch(async (error: unknown) => {
    await database.stop();
    throw error;
  });
  return {
    banner,
    announceStop: (signal) => pool.announceStop(signal),
    stop: async (signal) => {
      const isClean = await pool.stop(signal);
      await database.stop();
      return isClean;
    },
  };
}

function stopOn(request: Promise<string>, service: Service, { STOP_DELAY_SECONDS }: Environment): void {
  void request.then(async (signal) => {
    service.announceStop(signal);
    await stopDelay(signal, STOP_DELAY_SECONDS * 1000);
    await end(service, signal);
  });
}

async function end(service: Service, signal: string): Promise<void> {
  const isClean = await exitOnError(() => service.stop(signal));
  process.exit(isClean ? 0 : 1);
}

async function exitOnError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function explain(error: unknown): string {
  if (error instanceof EnvironmentError) {
    return `The gateway does not start, because of these settings:\n${error.message}`;
  }
  if (error instanceof WorkerStartError) return `The gateway does not start: ${error.message}`;
  return `The gateway does not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
