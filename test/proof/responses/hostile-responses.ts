import { Chance } from '../../support/chance.js';
import { type Asker, nonceOf } from './nonces.js';
import { ODDITIES, type Oddity } from './oddities.js';
import { CODINGS, type Coding, encoded, type Framing, ResponseDraft } from './response-draft.js';

/** What a provider sends, and when, counted in turns of the event loop. */
export interface Delivery {
  readonly turn: number;
  /** `end` and `reset` are those of the connection; `hang_up` is an end if the call still waits for its answer. */
  readonly sent: Buffer | 'end' | 'reset' | 'hang_up';
}

/** How a hostile provider answers one request. */
export interface HostileResponse {
  readonly method: string;
  readonly coding: Coding | undefined;
  /** The answer itself, without what is sent beside it. */
  readonly bytes: Buffer;
  readonly deliveries: readonly Delivery[];
  readonly oddities: readonly Oddity[];
  /** Body and status of an answer that is sent as a whole and, oddities aside, as it should be. */
  readonly intended: { readonly status: number; readonly body: Buffer } | undefined;
  /** Whether a coded body is cut, continued or damaged, so that nobody may take it for a whole one. */
  readonly isMiscoded: boolean;
}

const METHODS = ['POST', 'POST', 'POST', 'POST', 'GET', 'GET', 'HEAD'];
const FRAMINGS: readonly Framing[] = ['length', 'length', 'chunked', 'chunked', 'chunked', 'close'];
const STATUSES = ['200', '200', '200', '201', '206', '400', '404', '429', '500', '503', '204', '304', '205'];
const BODILESS: ReadonlySet<string> = new Set(['204', '304']);
/** Bytes that parsers stumble over. */
const SHARP = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '0',
  '1',
  'f',
  '\xff',
  '\x7f',
  '-',
  '0\r\n\r\n',
];

/** The largest piece of an answer; 0: all of it. */
const PIECE_BYTES = [1, 3, 20, 50, 100, 0, 0, 0, 0, 0];
const MOST_PIECES = 300;
/** What bodies are cut from. */
const NOISE = noise(200_000);

/** The answer to a request; the same for the same seed. @param seed of this answer. */
export function hostileResponse(asker: Asker, seed: number): HostileResponse {
  const chance = new Chance(seed);
  const method = chance.of(METHODS);
  const status = chance.of(STATUSES);
  const framing = BODILESS.has(status) ? 'none' : chance.of(FRAMINGS);
  const coding = framing !== 'none' && method !== 'HEAD' && chance.is(0.06) ? chance.of(CODINGS) : undefined;
  const plain = bodyOf(asker, chance);
  const { body, isMiscoded } =
    coding === undefined ? { body: plain, isMiscoded: false } : codedBody(coding, plain, chance);
  const draft = new ResponseDraft(framing, body);
  draft.status = status;
  draft.lines = [`x-nonce: ${nonceOf(asker)}`, ...(coding === undefined ? [] : [`Content-Encoding: ${coding}`])];
  const oddities = chosenOddities(draft, method, chance);
  for (const { apply } of oddities) apply(draft, chance);
  const whole = draft.bytes(chance, method === 'HEAD');
  const bytes = damaged(whole, chance);
  const isWhole = bytes === whole;
  const hasBody = method !== 'HEAD' && framing !== 'none';
  return {
    ...{ method, coding, bytes, oddities, isMiscoded: isMiscoded && isWhole },
    intended:
      isWhole && !isMiscoded ? { status: Number(draft.status), body: hasBody ? plain : Buffer.alloc(0) } : undefined,
    deliveries: deliveries(bytes, { asker, chance, endsWithConnection: framing === 'close' && method !== 'HEAD' }),
  };
}

/** A second answer to a request that has one. */
export function strayAnswer(asker: Asker): Buffer {
  const nonce = nonceOf(asker);
  return Buffer.from(`HTTP/1.1 200 OK\r\nx-nonce: ${nonce}\r\nContent-Length: ${nonce.length}\r\n\r\n${nonce}`);
}

function noise(bytes: number): Buffer {
  const chance = new Chance(bytes);
  return Buffer.from(Array.from({ length: bytes }, () => chance.below(256)));
}

function bodyOf(asker: Asker, chance: Chance): Buffer {
  if (chance.is(0.05)) return Buffer.alloc(0);
  const bytes = chance.is(0.005) ? chance.below(100_000) : chance.below(chance.is(0.8) ? 60 : 600);
  const at = chance.below(NOISE.length - bytes);
  return Buffer.concat([Buffer.from(nonceOf(asker)), NOISE.subarray(at, at + bytes)]);
}

/** A coded body: whole, absent, cut, or with bytes after the end of its coding. */
function codedBody(coding: Coding, plain: Buffer, chance: Chance): { body: Buffer; isMiscoded: boolean } {
  if (plain.length === 0) return { body: plain, isMiscoded: false };
  const body = encoded(coding, plain);
  if (chance.is(0.6)) return { body, isMiscoded: false };
  if (chance.is(0.5)) return { body: body.subarray(0, 1 + chance.below(body.length - 1)), isMiscoded: true };
  return { body: Buffer.concat([body, Buffer.from(chance.of(['x', '\0', 'nonce', '\r\n']))]), isMiscoded: true };
}

function chosenOddities({ framing }: ResponseDraft, method: string, chance: Chance): Oddity[] {
  const isPossible = (oddity: Oddity) =>
    (oddity.in === undefined || oddity.in.includes(framing)) && (method !== 'HEAD' || oddity.inHead !== false);
  const count = chance.of([0, 0, 1, 1, 1, 1, 2, 3]);
  return Array.from({ length: count }, () => chance.of(ODDITIES)).filter(isPossible);
}

/** Sometimes with bytes changed, inserted, removed or repeated, or cut. */
function damaged(whole: Buffer, chance: Chance): Buffer {
  if (chance.is(0.6)) return whole;
  let bytes = whole;
  for (let change = chance.below(3); change >= 0; change--) bytes = changed(bytes, chance);
  return bytes;
}

function changed(bytes: Buffer, chance: Chance): Buffer {
  // The head and the first chunks are where most rules apply.
  const at = chance.below(chance.is(0.7) ? Math.min(bytes.length, 160) : bytes.length);
  const sharp = Buffer.from(chance.of(SHARP), 'latin1');
  const rest = (from: number) => bytes.subarray(from);
  const before = bytes.subarray(0, at);
  switch (chance.below(5)) {
    case 0:
      return Buffer.concat([before, sharp, rest(at)]);
    case 1:
      return Buffer.concat([before, sharp, rest(at + sharp.length)]);
    case 2:
      return Buffer.concat([before, rest(at + 1 + chance.below(4))]);
    case 3:
      return Buffer.concat([bytes.subarray(0, at + chance.below(30)), rest(at)]);
    default:
      return before;
  }
}

interface Sending {
  readonly asker: Asker;
  readonly chance: Chance;
  /** The answer ends with its connection. */
  readonly endsWithConnection: boolean;
}

/** The answer in pieces of any size, and what is sent beside it. */
function deliveries(bytes: Buffer, { asker, chance, endsWithConnection }: Sending): Delivery[] {
  // Whatever comes before the end of the connection would belong to such an answer.
  const hasStray = !endsWithConnection && chance.is(0.12);
  const stray = hasStray
    ? strayAnswer(asker).subarray(0, chance.is(0.5) ? undefined : 1 + chance.below(20))
    : undefined;
  const isAtOnce = chance.is(0.4);
  const sent = stray !== undefined && isAtOnce ? Buffer.concat([bytes, stray]) : bytes;
  const list: Delivery[] = pieces(sent, chance);
  let turn = list.at(-1)?.turn ?? 0;
  if (endsWithConnection) list.push({ turn, sent: chance.is(0.03) ? 'reset' : 'end' });
  if (stray !== undefined && !isAtOnce) {
    turn += chance.below(4);
    list.push({ turn, sent: stray });
  }
  if (chance.is(0.03)) list.push({ turn: turn + chance.below(3), sent: chance.of(['end', 'reset'] as const) });
  list.push({ turn: turn + 3, sent: 'hang_up' });
  return list;
}

function pieces(bytes: Buffer, chance: Chance): Delivery[] {
  const largest = chance.of(PIECE_BYTES) || bytes.length;
  const list: Delivery[] = [];
  let turn = chance.is(0.8) ? 0 : chance.below(3);
  const pauses = chance.is(0.3) ? 0.1 : 0;
  const least = Math.ceil(bytes.length / MOST_PIECES);
  for (let at = 0; at < bytes.length; ) {
    const end = at + Math.max(least, 1 + chance.below(largest));
    list.push({ turn, sent: bytes.subarray(at, end) });
    at = end;
    if (pauses > 0 && chance.is(pauses)) turn++;
  }
  return list;
}
