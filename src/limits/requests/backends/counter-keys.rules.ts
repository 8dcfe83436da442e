import { hash } from 'node:crypto';
import { WINDOW_MS, type WindowKind } from '../request-limit.rules.js';

const KEY_PREFIX = 'gw';

/** Namespace of the Redis counters of a deployment in one epoch. */
export function counterNamespace({
  deployment,
  epoch,
}: {
  readonly deployment: string;
  readonly epoch: number;
}): string {
  return `${deployment}:${epoch}`;
}

/** Pseudonym of a user: 43 characters of base64url; empty for the whole application. */
export function digestOf(userId: string): string {
  return userId === '' ? '' : hash('sha256', userId, 'base64url');
}

/** Key of the mark of an application's counters. */
export function markKey(namespace: string, appId: string): string {
  return keyOf(namespace, appId, 'mark');
}

/** Key of the counter of a window. @param digest from {@link digestOf}: no user id reaches Redis. */
export function counterKey(
  namespace: string,
  appId: string,
  { kind, index, digest }: { readonly kind: WindowKind; readonly index: number; readonly digest: string },
): string {
  return keyOf(namespace, appId, digest === '' ? `${kind}:${index}` : `${kind}:${index}:${digest}`);
}

/** Key of the counter of a UTC day. @param userId empty for the whole application. */
export function dayCounterKey(namespace: string, appId: string, userId: string, dayStartMs: number): string {
  const index = Math.floor(dayStartMs / WINDOW_MS.day);
  return counterKey(namespace, appId, { kind: 'day', index, digest: digestOf(userId) });
}

/** The hash tag puts all keys of an application into one slot of a Redis cluster. */
function keyOf(namespace: string, appId: string, name: string): string {
  return `${KEY_PREFIX}:{${appId}}:${namespace}:${name}`;
}
