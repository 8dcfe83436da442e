import { originOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { EXIT, Failure } from '../program/failure.js';
import { facts } from '../terminal/table.js';
import { ended, operationOf, outcomeOf } from './browser-step.js';
import { sentOperation } from './operation-tokens.js';

const LONGEST_SECONDS = 86_400;

/** `gw operation status` */
export const status: Action = async (gw) => {
  const { url, token } = sentOperation(gw.state, gw.argument(0));
  gw.context.url = originOf(url, gw.environment.allowsHttp);
  const operation = await operationOf(url, token);
  const { id, kind, state, expiresAt, url: link, denied, failure } = operation;
  const values = {
    ...{ Operation: id, Kind: kind, State: denied === true ? 'declined' : state, 'Kept until': expiresAt },
    ...(link !== undefined && { Link: link }),
    ...(failure !== undefined && { 'Last try': failure.message }),
  };
  return { result: { operation }, text: facts(values) };
};

/** `gw operation wait` */
export const wait: Action = async (gw) => {
  const seconds = gw.integer('timeout', { min: 0, max: LONGEST_SECONDS });
  const { url, token } = sentOperation(gw.state, gw.argument(0));
  gw.context.url = originOf(url, gw.environment.allowsHttp);
  gw.terminal.tell('Waiting for the browser');
  gw.standing = 'The operation is still pending.';
  const operation = await ended(url, token, seconds === undefined ? undefined : gw.nowMs() + seconds * 1000);
  if (operation.state !== 'pending') return outcomeOf(operation, `Completed: ${operation.kind}.`);
  throw new Failure(EXIT.timeout, 'operation_pending', `The operation is still pending after ${seconds} s.`, {
    nextAction: operation.url === undefined ? 'Wait again.' : `Complete it in a browser: ${operation.url}`,
    details: { id: operation.id, kind: operation.kind },
  });
};
