import { executionAsyncResource } from 'node:async_hooks';

/** One task of `process.nextTick`. */
const keptTasks: object[] = [];

/**
 * Keeps a task of `process.nextTick` reachable, and so the hidden class of all. A full collection that finds no task,
 * as in an idle process, drops the class; V8 then creates every later task by calls of its runtime, in seven times the
 * time. Source: ADR 0063.
 */
export function keepTaskLayout(): void {
  process.nextTick(() => keptTasks.push(executionAsyncResource()));
}

/**
 * Frees what the start left behind, 40 MiB, which V8 keeps as long as the process is idle. Without the engine options
 * there is no collector to call, and it stays. Source: ADR 0063.
 */
export function collectStart(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
