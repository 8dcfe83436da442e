import { EXIT, Failure } from '../program/failure.js';

const INPUT_STATUSES = new Set([400, 404, 413, 422]);
const STATE_STATUSES = new Set([401, 403, 409]);

/** Prefix of the codes of responses that are not from the gateway. */
const STRANGER = 'http_';

/** A refusal, without its body. */
type Refused = Pick<Response, 'status' | 'headers' | 'url'>;

/**
 * The failure of a refused request. The advice on a refusal of the gateway depends on the command, see `adviceOn`. The
 * failure of a response from something else, such as a proxy, says so.
 *
 * @param body of the response, parsed; anything.
 */
export function refusal(answer: Refused, body: unknown): Failure {
  const { error } = Object(body);
  const { code, message, data } = Object(error);
  const { status, headers } = answer;
  const retryAfterSeconds = Number(headers.get('retry-after'));
  const requestId = headers.get('x-request-id');
  const details = {
    status,
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
    ...(requestId !== null && { requestId }),
    ...(typeof data === 'object' && data !== null && { data }),
  };
  if (typeof code === 'string' && typeof message === 'string') {
    return new Failure(exitCodeOf(status), code, message, { details });
  }
  const facts = { nextAction: adviceOnStranger(answer), details };
  return new Failure(exitCodeOf(status), `${STRANGER}${status}`, strangerText(answer), facts);
}

/** Whether something other than the gateway responded: its refusals are not about the account. */
export const isOfStranger = ({ code }: Pick<Failure, 'code'>) => code.startsWith(STRANGER);

function strangerText({ status, headers, url }: Refused): string {
  const origin = URL.canParse(url) ? new URL(url).origin : 'The server';
  const type = headers.get('content-type')?.split(';')[0];
  const kind = type === undefined || type === '' || type === 'application/json' ? '' : ` and ${type}`;
  return `${origin} answers with status ${status}${kind}, which is not a response of a gateway.`;
}

function adviceOnStranger({ status, headers }: Refused): string {
  const location = headers.get('location');
  if (status < 400 && location !== null) return `It redirects to ${location}. If that is the gateway, use its address.`;
  if (status === 401 || status === 403 || status === 407) {
    return 'A proxy in between requires its own login, or blocks this machine.';
  }
  if (status === 413) return 'A proxy in between limits the size of requests.';
  if (status === 429) return 'A proxy in between limits requests: wait, then run the command again.';
  if (status >= 500)
    return 'A proxy in between answers instead: check that the gateway runs, and that the proxy reaches it.';
  return 'Check that the address is that of a gateway, and that no proxy answers instead.';
}

function exitCodeOf(status: number): number {
  if (INPUT_STATUSES.has(status)) return EXIT.input;
  return STATE_STATUSES.has(status) ? EXIT.state : EXIT.remote;
}
