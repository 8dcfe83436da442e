import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../program/failure.js';
import type { StateFolder } from '../state/state-folder.js';

const OPERATION_ID = /^op:[0-9a-f]{64}$/;

/** An operation that this machine sent. */
interface SentOperation {
  readonly url: string;
  readonly token: string;
}

/** The id of the operation of a token. */
export const operationIdOf = (token: string) => `op:${createHash('sha256').update(token).digest('hex')}`;

/** Saves the token of an operation before it is sent, so that its state can be asked for later. */
export function saveToken(state: StateFolder, { url, token }: SentOperation): void {
  state.write(fileOf(operationIdOf(token)), `${JSON.stringify({ url, token })}\n`);
}

/** An operation that this machine sent. @throws Failure if it is not one. */
export function sentOperation(state: StateFolder, id: string): SentOperation {
  const text = OPERATION_ID.test(id) ? state.read(fileOf(id)) : undefined;
  const { url, token } = Object(parsed(text));
  if (typeof url === 'string' && typeof token === 'string') return { url, token };
  if (text !== undefined) throw state.damaged(fileOf(id), 'Its operation can only be seen in the browser.');
  throw Failure.state('operation_unknown', `The operation "${id}" was not sent from this machine.`, {
    nextAction: 'Use the id that a command with --browser printed, on the machine where it ran.',
  });
}

const fileOf = (id: string) => join('operations', `${id.slice('op:'.length)}.json`);

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
