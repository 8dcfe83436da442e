import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isRunning, ownIdentity } from '../embedded-postgres/process-identity.js';

/** Identifies one process, so that others on its machine can check whether it still runs. */
export interface InstanceProcess {
  readonly host: string;
  readonly pid: number;
  /** PID namespace and process start; empty where the system does not report them. */
  readonly started: string;
}

export function ownProcess(): InstanceProcess {
  const { pid, started } = ownIdentity();
  return { host: hostname(), pid, started: joined(pidNamespace(), started) };
}

/**
 * True for a process of this machine that has ended. False for all others: processes elsewhere, including other
 * containers, are not visible.
 */
export function isKnownToHaveEnded({ host, pid, started }: InstanceProcess): boolean {
  const namespace = pidNamespace();
  if (host !== hostname() || !started.startsWith(joined(namespace, ''))) return false;
  return !isRunning({ pid, started: started.slice(joined(namespace, '').length) });
}

function joined(namespace: string, started: string): string {
  return namespace === '' ? started : `${namespace}/${started}`;
}

/** Containers of one machine may share a name, and their process ids overlap. */
function pidNamespace(): string {
  if (process.platform !== 'linux') return '';
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
