import type { IncomingHttpHeaders } from 'node:http';
import type { OpenApiCheck } from '../../support/openapi/openapi-check.js';
import type { Answer } from '../../support/proxy/proxy-client.js';
import { type HostileRequest, isRelayed } from './hostile-requests.js';

const MAX_MESSAGE_CHARACTERS = 1_000;
/** Control characters, line ends, bidirectional controls, and lone surrogates. */
const ACTING = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u;
/** Internals of the service: stack traces, statements, names of its files and of its parts. */
const INTERNALS =
  /\n\s+at |node_modules|\.[jt]s:\d|QueryFailedError|TypeError|RangeError|\bSELECT\b.+\bFROM\b|\bINSERT INTO\b|\bUPDATE\b.+\bSET\b|syntax error at|invalid input syntax|violates .+ constraint|relation "|column "|ECONNRE/;
const LABELS: IncomingHttpHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Finds errors in the answer to a hostile request. */
export class AnswerJudge {
  constructor(
    private readonly check: OpenApiCheck,
    private readonly secrets: readonly string[],
  ) {}

  /** All errors; empty if the answer is as promised. */
  problemsOf(request: HostileRequest, answer: Answer): readonly string[] {
    const { status, headers, isComplete } = answer;
    const text = answer.body.toString();
    const whole = `${JSON.stringify(answer.rawHeaders)}${text}`;
    return [
      ...(isComplete ? [] : ['the answer broke off']),
      ...(status >= 500 && !isNotConfigured(request, text) ? [`status ${status}`] : []),
      ...(request.mustBeRefused && status < 400 ? [`it was served with ${status}`] : []),
      ...this.secrets.filter((secret) => whole.includes(secret)).map((secret) => `it holds the secret ${secret}`),
      ...(INTERNALS.test(whole) ? ['it tells of the inside'] : []),
      ...(headers['x-injected'] === undefined ? [] : ['a header was injected']),
      ...(wasParsed(request, answer) && !isRelayed(request.operation) ? unlabelled(headers) : []),
      ...(status >= 400 && request.method !== 'HEAD' ? refusalProblems(answer, text) : []),
      ...this.undocumented(request, answer, text),
    ];
  }

  private undocumented(request: HostileRequest, answer: Answer, text: string): string[] {
    const { method, target, operation } = request;
    const { status, headers: answered } = answer;
    const headers = Object.keys(answered);
    try {
      if (status < 400 && isRelayed(operation)) this.check.relayed(method, target, { status, headers });
      else if (wasParsed(request, answer) && !this.isOfMessage(request, answer)) {
        const body = text !== '' && /\bjson/.test(answered['content-type'] ?? '') ? JSON.parse(text) : undefined;
        this.check.answer(method, target, { status, body, headers });
      }
      return [];
    } catch (error) {
      return [`not as documented: ${error}`];
    }
  }

  /** Whether the message is refused as on any route, so that no operation names it (RFC 9110 15.5.16, 15.5.18). */
  private isOfMessage({ method, target }: HostileRequest, { status, headers }: Answer): boolean {
    if (status === 417 || headers['accept-encoding'] === 'identity') return true;
    return status === 400 && !this.check.namesRefusals(method, target);
  }
}

/** Whether the request came as far as a route; non-HTTP input is refused before. */
function wasParsed({ method }: HostileRequest, { status, headers, body }: Answer): boolean {
  if (status === 408 || status === 431) return false;
  if (method === 'HEAD')
    return status !== 400 || headers.connection !== 'close' || headers['cache-control'] !== undefined;
  return !body.includes('"The request is not valid HTTP/1.1."');
}

/** A missing provider is documented as a gateway's answer on the proxy. */
function isNotConfigured({ operation }: HostileRequest, text: string): boolean {
  return isRelayed(operation) && text.includes('"provider_not_configured"');
}

function unlabelled(headers: IncomingHttpHeaders): string[] {
  return Object.entries(LABELS)
    .filter(([name, value]) => headers[name] !== value)
    .map(([name]) => `without ${name}`);
}

function refusalProblems({ status, headers }: Answer, text: string): string[] {
  if (headers['content-type'] !== 'application/json; charset=UTF-8')
    return [`a refusal of type ${headers['content-type']}: ${text}`];
  const { error, ...others } = JSON.parse(text);
  const { code, message, data = {}, ...more } = error;
  const hasFlatData = Object.values(data).every((value) => ['string', 'number', 'boolean'].includes(typeof value));
  return [
    ...(Object.keys({ ...others, ...more }).length > 0 || !hasFlatData ? ['an envelope of another form'] : []),
    ...(typeof code === 'string' && typeof message === 'string' && message.length > 0 ? [] : ['no code or no message']),
    ...(ACTING.test(message) ? ['a message with characters that act'] : []),
    ...(message.length > MAX_MESSAGE_CHARACTERS ? [`a message of ${message.length} characters`] : []),
    ...((status === 429 || status === 503) && !/^[1-9]\d*$/.test(headers['retry-after'] ?? '')
      ? ['no Retry-After']
      : []),
  ];
}
