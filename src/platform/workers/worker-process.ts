import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import { WorkerGroup } from './worker-group.js';
import { parseWorkerMessage, type WorkerMessage } from './worker-messages.rules.js';
import { WorkersMetrics } from './workers-metrics.js';

/** Distinguishes a worker from a process that another program runs as its own cluster worker. */
const WORKER_ARGUMENT = '--gateway-worker';

/**
 * The primary accepts connections and distributes them in turn, which spreads streams evenly. With `SCHED_NONE` the
 * operating system assigns them to any worker.
 */
const SCHEDULING = cluster.SCHED_RR;

/** True when this process is a worker of this gateway. */
export function isWorkerProcess(): boolean {
  return cluster.isWorker && process.argv.includes(WORKER_ARGUMENT);
}

/**
 * Prepares this process for workers. @returns a function that starts one; it runs the same program and shares the port.
 */
export function workerLauncher() {
  cluster.schedulingPolicy = SCHEDULING;
  cluster.setupPrimary({ args: [...process.argv.slice(2), WORKER_ARGUMENT] });
  const group = new WorkersMetrics();
  return () => {
    const { process: worker } = cluster.fork();
    closeUntaken(worker);
    group.watch(worker);
    return worker;
  };
}

/**
 * Closes the connection that a worker was sent and did not take before it ended. The primary gives a worker one at a
 * time and closes its own copy when the worker confirms; without the confirmation it would stay open, and its client
 * wait.
 */
function closeUntaken(worker: ChildProcess): void {
  const { send } = worker;
  let sent: { close(): void } | undefined;
  worker.send = (...args: unknown[]) => {
    const [, handle] = args;
    if (isClosable(handle)) sent = handle;
    return Reflect.apply(send, worker, args);
  };
  worker.once('exit', () => sent?.close());
}

function isClosable(handle: unknown): handle is { close(): void } {
  return typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function';
}

/** The processes that share the port with this one. */
export function processGroup(): WorkerGroup {
  return new WorkerGroup(isWorkerProcess() ? process : undefined);
}

/** Calls `announce` when a stop of this worker follows, and `stop` when it must stop. */
export function onStopRequest(announce: (signal: string) => void, stop: (signal: string) => void): void {
  process.on('message', (message) => {
    const parsed = parseWorkerMessage(message);
    if (parsed?.kind === 'stop_announced') announce(parsed.signal);
    if (parsed?.kind === 'stop') stop(parsed.signal);
  });
}

/** Reports to the primary that this worker serves. */
export function reportReady(banner: string): void {
  const message: WorkerMessage = { kind: 'ready', banner };
  process.send?.(message);
}
