import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { BrokenConnection } from '../../../src/proxy/connections/broken-connection.js';
import { GivenUp } from '../../../src/proxy/round-trip/provider-failure.rules.js';
import type { HostileCall } from './hostile-call.js';
import type { ReadAnswer } from './node-answer.js';
import { type Asker, askersIn, NOBODY } from './nonces.js';
import type { Evidence } from './request-log.js';

type Decode = (body: Buffer, options: { readonly info: true }) => Buffer;

const DECODES: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', (body, options) => ((body[0] ?? 0) % 16 === 8 ? inflateSync : inflateRawSync)(body, options)],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);

/** The errors of an answer, compared with Node's reading of the same bytes. */
export function answerProblems(call: HostileCall, answer: ReadAnswer, node: ReadAnswer | undefined): string[] {
  if (node === undefined) return ['Node refuses this answer'];
  const body = decoded(node);
  return [
    ...(answer.status === node.status ? [] : [`status ${answer.status}, Node reads ${node.status}`]),
    ...(answer.statusText === node.statusText ? [] : [`reason ${answer.statusText}, Node reads ${node.statusText}`]),
    ...(`${answer.headers}` === `${node.headers}` ? [] : [`headers ${answer.headers}, Node reads ${node.headers}`]),
    ...(body?.equals(answer.body) ? [] : [`body ${shown(answer.body)}, Node reads ${body && shown(body)}`]),
    ...(answer.isKept && !node.isKept && !isKeptByUsAlone(call, node) ? ['Node ends its connection'] : []),
    ...ownerProblems(call, answer),
  ];
}

/**
 * Deliberate differences: Node ends the connection after `proxy-connection: close`, which means nothing in an answer
 * (RFC 9112 appendix C.2.2), and after an answer to HEAD that states no length, although it has no body (RFC 9112
 * section 6.3).
 */
function isKeptByUsAlone({ response: { method } }: HostileCall, { headers }: ReadAnswer): boolean {
  const has = (name: string) => headers.some((text, at) => at % 2 === 0 && text === name);
  return has('proxy-connection') || (method === 'HEAD' && !has('content-length') && !has('transfer-encoding'));
}

/** What is wrong with the fate of an answer that has at most one oddity, when nothing else reached its connection. */
export function fateProblems(call: HostileCall, evidence: Evidence, node: ReadAnswer | undefined): string[] {
  const { response, answer, failure } = call;
  const { intended, oddities, bytes, isMiscoded } = response;
  if (isMiscoded && answer !== undefined && isOwn(evidence, bytes))
    return ['a damaged coding is taken for a whole one'];
  if (intended === undefined || oddities.length > 1 || !isOwn(evidence, bytes)) return [];
  const readers = oddities[0]?.readers ?? 'both';
  const isRead = readers === 'both';
  if (answer !== undefined && !isRead) return ['the gateway reads this answer'];
  if (answer === undefined && isRead && isRefusal(failure)) return [`the gateway refuses this answer: ${failure}`];
  return [
    ...((node !== undefined) === (readers !== 'nobody') ? [] : [`Node ${node === undefined ? 'refuses' : 'reads'} it`]),
    ...(answer === undefined || answer.status === intended.status ? [] : [`status ${answer.status}`]),
    ...(answer === undefined || answer.body.equals(intended.body) ? [] : [`body ${shown(answer.body)}`]),
  ];
}

/** Whether nothing but this answer, or the beginning of it, has arrived before a request was answered. */
function isOwn({ pieces }: Evidence, bytes: Buffer): boolean {
  const arrived = Buffer.concat(pieces);
  const length = Math.min(arrived.length, bytes.length);
  return arrived.subarray(0, length).equals(bytes.subarray(0, length));
}

/** Whether a call failed by what it received, not by the end of its connection. */
export function isRefusal(failure: Error | undefined): boolean {
  if (failure instanceof BrokenConnection) return failure.code !== 'closed';
  return failure instanceof GivenUp && failure.why === 'undecodable';
}

/**
 * An answer carries the nonce of its request. HTTP/1.1 cannot tell an earlier answer that arrives after the request was
 * written; it must be of the same connection, and with that of the same account.
 */
function ownerProblems(call: HostileCall, answer: ReadAnswer): string[] {
  return askersOf(answer)
    .filter(({ account, number }) => {
      if (account !== call.asker.account) return true;
      return number !== call.asker.number && number !== NOBODY && !call.log?.had(number, call);
    })
    .map(({ account, number }) => `answer to request ${number} of account ${account}`);
}

/** Whether an answer is one to another request of its connection. */
export function isMistaken(call: HostileCall, answer: ReadAnswer): boolean {
  return askersOf(answer).some(({ number }) => number !== call.asker.number);
}

/** The requests whose nonces an answer carries. */
function askersOf({ headers, body }: ReadAnswer): Asker[] {
  return askersIn(`${headers.join(' ')} ${body.toString('latin1')}`);
}

/** The body that Node has read, decoded as a whole; `undefined` if it cannot be. */
function decoded({ headers, body }: ReadAnswer): Buffer | undefined {
  const at = headers.findLastIndex((name, index) => index % 2 === 0 && name === 'content-encoding');
  const coding = at < 0 ? '' : (headers[at + 1] ?? '').trim().toLowerCase();
  if (coding === '' || coding === 'identity' || body.length === 0) return body;
  try {
    // With `info` the engine comes along, which the types do not say.
    const told = DECODES.get(coding)?.(body, { info: true }) as unknown as
      | { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }
      | undefined;
    return told?.engine.bytesWritten === body.length ? told.buffer : undefined;
  } catch {
    return undefined;
  }
}

function shown(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1').slice(0, 200));
}
