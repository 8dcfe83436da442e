import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { jsonText } from '../terminal/terminal.js';
import { send, unreachable } from './client.js';
import { createOnce } from './creation.js';
import { addressOf, pageIn } from './path.rules.js';
import { refusal } from './refusal.rules.js';
import { type Session, sessionOf } from './session.js';

/** The largest body that the API accepts. */
const MOST_BYTES = 1024 * 1024;

/** A successful response; its body parsed, or as text if it is not JSON. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Sent {
  readonly method: string;
  readonly url: URL;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/** `gw api` */
export const request: Action = async (gw) => {
  const [method, path] = [gw.argument(0), gw.argument(1)];
  addressOf('http://localhost', path);
  if (gw.flag('paginate') && method !== 'GET') throw wrong('--paginate: only with GET.');
  const body = await bodyOf(gw);
  if (body !== undefined && method === 'GET') throw wrong('--data: not with GET.');
  const session = await sessionOf(gw);
  const sent = { method, url: addressOf(session.url, path), body };
  const answer = await answerOf(gw, session, sent);
  const shown = typeof answer.body === 'string' ? answer.body.trimEnd() : jsonText(answer.body, 2);
  return { result: answer, text: shown };
};

async function answerOf(gw: Invocation, session: Session, sent: Sent): Promise<Answer> {
  const { method, url, body } = sent;
  if (gw.flag('paginate')) return allPages(session, sent);
  if (method !== 'POST') return answered(session, sent, {});
  const hash = createHash('sha256')
    .update(body ?? '')
    .digest('hex');
  return createOnce(gw, { api: url.pathname + url.search, hash }, (headers) => answered(session, sent, headers));
}

/** One response with the rows of all pages. */
async function allPages(session: Session, sent: Sent): Promise<Answer> {
  const url = new URL(sent.url);
  const offset = Number(url.searchParams.get('offset') ?? 0);
  const rows: unknown[] = [];
  for (;;) {
    const { status, body } = await answered(session, { ...sent, url }, {});
    const page = pageIn(body, offset + rows.length);
    if (page === undefined) return { status, body };
    rows.push(...page.rows);
    if (page.next === undefined) return { status, body: { ...Object(body), [page.name]: rows } };
    url.searchParams.set(...page.next);
  }
}

/** @throws Failure the answer is a refusal, or a redirect. */
async function answered(session: Session, { method, url, body }: Sent, headers: object): Promise<Answer> {
  const response = await send(
    new Request(url, {
      method,
      headers: {
        ...{ 'x-client': 'cli', authorization: `Bearer ${session.key}`, ...headers },
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    }),
  );
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(url.origin, error);
  });
  const answer = { status: response.status, body: parsed(text) };
  if (response.ok) return answer;
  const refused = refusal(response, answer.body);
  if (refused.code !== 'session_required') throw refused;
  throw refused.withAdvice(`Do this signed in, in the console: ${session.capabilities.consoleOrigin}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The body of `--data`, byte for byte. @throws Failure it cannot be read, or is not JSON. */
async function bodyOf(gw: Invocation): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const data = gw.text('data');
  if (data === undefined) return undefined;
  const body =
    data === '-' || data === '@-'
      ? await gw.terminal.readAll(MOST_BYTES)
      : new Uint8Array(data.startsWith('@') ? readFileSync(data.slice(1)) : Buffer.from(data));
  if (body.length > MOST_BYTES) throw wrong('--data: is larger than 1 MiB.');
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw wrong(`--data: ${error instanceof Error ? error.message : error}`);
  }
  return body;
}

const wrong = (message: string) => Failure.input('invalid_option', message);
