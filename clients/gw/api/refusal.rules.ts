import { EXIT, Failure } from '../program/failure.js';

const INPUT_STATUSES = new Set([400, 404, 413, 422]);
const STATE_STATUSES = new Set([401, 403, 409]);

const NEXT_ACTIONS: Readonly<Record<number, string>> = {
  401: 'Log in again: gw account login',
  403: 'Use a key or a person with a sufficient role.',
  429: 'Wait a moment, then run the command again.',
};

/** The failure that a refused request is. @param body of the answer, parsed; anything. */
export function refusal({ status, headers }: Pick<Response, 'status' | 'headers'>, body: unknown): Failure {
  const { error } = Object(body);
  const { code, message, data } = Object(error);
  const isOfApi = typeof code === 'string' && typeof message === 'string';
  const text = isOfApi ? message : `The server answered with status ${status}.`;
  const retryAfterSeconds = Number(headers.get('retry-after'));
  return new Failure(exitCodeOf(status), isOfApi ? code : `http_${status}`, text, {
    ...(NEXT_ACTIONS[status] !== undefined && { nextAction: NEXT_ACTIONS[status] }),
    details: {
      status,
      ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
      ...(typeof data === 'object' && data !== null && { data }),
    },
  });
}

function exitCodeOf(status: number): number {
  if (INPUT_STATUSES.has(status)) return EXIT.input;
  return STATE_STATUSES.has(status) ? EXIT.state : EXIT.remote;
}
