import { setTimeout as pause } from 'node:timers/promises';
import type { components } from '../../console/src/api/schema.d.ts';
import { apiOf, read } from '../api/client.js';
import type { Session } from '../api/session.js';
import type { Outcome } from '../program/command.js';
import { nowMs } from '../program/environment.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { openBrowser } from '../terminal/browser.js';
import { printable } from '../terminal/terminal.js';
import { operationIdOf, saveToken } from './operation-tokens.js';

/** An operation as the API returns it. */
export type Operation = components['schemas']['OperationResponse'];
type Kind = components['schemas']['CreateOperationRequest']['kind'];

const POLL_INTERVAL_MS = 1_000;

/**
 * Sends an operation whose last step a person completes in a browser, and waits for it. Repeated, it continues the
 * pending operation. With `--no-input` it returns the link and does not wait.
 *
 * @param done the success message.
 * @throws Failure if it was declined or expired.
 */
export async function inBrowser(
  gw: Invocation,
  { url, api }: Session,
  kind: Kind,
  payload: Record<string, unknown>,
  done: string,
): Promise<Outcome> {
  const identity = [gw.context.url, gw.context.accountId, kind, payload];
  const token = gw.journal.begin(identity).key;
  saveToken(gw.state, { url, token });
  const body = { kind, payload, token, browser: true };
  let operation: Operation;
  try {
    operation = await read(api.POST('/v1/cli/operations', { body }));
  } catch (error) {
    if (error instanceof Failure && error.status !== undefined && error.status < 500) gw.journal.end(identity);
    throw error;
  }
  if (operation.state === 'pending') {
    const told = `Open ${operation.url ?? url}\nto complete this in a browser (${operation.id}).`;
    if (!gw.mayWait) return { result: { operation }, text: told };
    if (gw.isLeft('open') && gw.environment.hasBrowser) await openBrowser(operation.url ?? url);
    gw.terminal.printError(`${told}\nCtrl-C stops waiting; "gw operation wait ${operation.id}" continues.`);
    gw.standing = `The operation is pending: gw operation wait ${operation.id}`;
    gw.terminal.tell('Waiting for the browser');
    operation = await ended(url, token);
  }
  gw.journal.end(identity);
  return outcomeOf(operation, done);
}

/** Waits until an operation ends. @param untilMs undefined: no limit. */
export async function ended(url: string, token: string, untilMs = Number.POSITIVE_INFINITY): Promise<Operation> {
  for (;;) {
    const operation = await operationOf(url, token);
    if (operation.state !== 'pending' || nowMs() >= untilMs) return operation;
    await pause(Math.min(POLL_INTERVAL_MS, Math.max(untilMs - nowMs(), 0)));
  }
}

/** The state of an operation. */
export function operationOf(url: string, token: string): Promise<Operation> {
  const path = { id: operationIdOf(token) };
  return read(apiOf(url, token).GET('/v1/cli/operations/{id}', { params: { path } }));
}

/** The result of an ended operation. @throws Failure if it was declined or expired. */
export function outcomeOf(operation: Operation, done: string): Outcome {
  const details = { id: operation.id, kind: operation.kind };
  if (operation.denied === true)
    throw Failure.state('operation_denied', 'The operation was declined in the browser.', { details });
  if (operation.state === 'expired') {
    throw Failure.state('operation_expired', 'The operation expired before it was completed.', {
      ...{ nextAction: 'Run the command again.', details },
    });
  }
  return { result: { operation }, text: printable(done) };
}
