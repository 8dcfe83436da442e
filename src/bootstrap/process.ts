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
import { stopRequest } from '../platform/stop-request.js';
import { WorkerPool } from '../platform/workers/worker-pool.js';
import { isWorkerProcess, onStopRequest, reportReady, workerLauncher } from '../platform/workers/worker-process.js';
import { tuneEngine } from './engine.js';
import { type Extension, startGateway } from './start.js';

/** Stops the service; idempotent. @returns whether it stopped cleanly. */
type Stop = (signal: string) => Promise<boolean>;

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
  const { banner, stop } = await exitOnError(() =>
    environment.WORKERS > 1 ? startWorkers(environment) : startService(extension),
  );
  process.stderr.write(banner);
  stopOn(early ?? stopRequest(), stop);
}

/** Runs a worker. It ends when the primary process requests it or has ended. */
async function runWorker(extension: Extension): Promise<void> {
  let stopService: Stop | undefined;
  onStopRequest((signal) => {
    if (stopService === undefined) process.exit(0);
    void end(stopService, signal);
  });
  const { banner, stop } = await exitOnError(() => startService(extension));
  stopService = stop;
  stopOn(stopRequest(), stop);
  reportReady(banner);
}

async function startService(extension: Extension): Promise<{ banner: string; stop: Stop }> {
  const gateway = await startGateway(processEnvironment(), { ...extension, log: writeLine });
  tuneEngine();
  flushCompileCache();
  return { banner: gateway.banner, stop: (signal) => gateway.stop(signal).then(() => true) };
}

/** @throws EnvironmentError when the workers would have no Redis to share counts. */
async function startWorkers(environment: Environment): Promise<{ banner: string; stop: Stop }> {
  const { WORKERS, REDIS_URL, LOG_LEVEL } = environment;
  if (REDIS_URL === undefined) {
    throw new EnvironmentError(
      'REDIS_URL must be set where WORKERS is above 1: several processes count together through Redis',
    );
  }
  const clock = new SystemClock();
  const log = new Log(clock, LOG_LEVEL, writeLine);
  // The primary holds the embedded database, so that it does not stop with a worker.
  const database = await openDatabase(environment, new SystemIds(), log);
  const pool = new WorkerPool({ workers: WORKERS, fork: workerLauncher(), clock, log });
  const banner = await pool.start().catch(async (error: unknown) => {
    await database.stop();
    throw error;
  });
  return {
    banner,
    stop: async (signal) => {
      const isClean = await pool.stop(signal);
      await database.stop();
      return isClean;
    },
  };
}

function stopOn(request: Promise<string>, stop: Stop): void {
  void request.then((signal) => end(stop, signal));
}

async function end(stop: Stop, signal: string): Promise<void> {
  const isClean = await exitOnError(() => stop(signal));
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
  return `The gateway does not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
