import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isRunning, ownMark } from '../database/process-mark.js';

/** One process, told so that others of its machine can see whether it still runs. */
export interface InstanceProcess {
  readonly host: string;
  readonly pid: number;
  /** Where process ids mean what they mean to it, and its start there; empty where the system does not tell. */
  readonly started: string;
}

/** This process. */
export function ownProcess(): InstanceProcess {
  const { pid, started } = ownMark();
  return { host: hostname(), pid, started: joined(pidNamespace(), started) };
}

/**
 * True for a process of this machine that runs no more. False for every other one: what runs elsewhere, another
 * container included, cannot be seen from here.
 */
export function isKnownToHaveEnded({ host, pid, started }: InstanceProcess): boolean {
  const namespace = pidNamespace();
  if (host !== hostname() || !started.startsWith(joined(namespace, ''))) return false;
  return !isRunning({ pid, started: started.slice(joined(namespace, '').length) });
}

function joined(namespace: string, started: string): string {
  return namespace === '' ? started : `${namespace}/${started}`;
}

/** Containers of one machine may have the same name; their process ids mean different processes. */
function pidNamespace(): string {
  if (process.platform !== 'linux') return '';
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
