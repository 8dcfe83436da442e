import type { Chance } from '../../support/chance.js';
import type { Framing, ResponseDraft } from './response-draft.js';

/** Which parsers accept an answer with one oddity: neither, both, or only Node's strict parser. */
type Readers = 'nobody' | 'both' | 'node';

/** Something unusual in an answer that is regular otherwise. */
export interface Oddity {
  readonly name: string;
  readonly readers: Readers;
  /** Framings in which it occurs; none named: in any. */
  readonly in?: readonly Framing[];
  /** In answers to HEAD, too. */
  readonly inHead?: false;
  apply(draft: ResponseDraft, chance: Chance): void;
}

const CHUNKED: readonly Framing[] = ['chunked'];
const LENGTH: readonly Framing[] = ['length'];
/** Framings that a client knows without the end of the connection. */
const FRAMED: readonly Framing[] = ['length', 'chunked'];

/** Inserts a line between those of a head. */
const line = (name: string, readers: Readers, ...lines: readonly string[]): Oddity => ({
  ...{ name, readers },
  apply: (draft, chance) => void draft.lines.splice(chance.below(draft.lines.length + 1), 0, chance.of(lines)),
});

const statusLine = (name: string, readers: Readers, version: string, status: string, reason: string): Oddity => ({
  ...{ name, readers, in: FRAMED },
  apply: (draft) => void Object.assign(draft, { version, status, reason }),
});

const before = (name: string, readers: Readers, ...texts: readonly string[]): Oddity => ({
  ...{ name, readers },
  apply: (draft, chance) => {
    draft.before = chance.of(texts);
  },
});

/** Replaces the line of a known length. */
const length = (name: string, readers: Readers, lines: (bytes: number) => readonly string[]): Oddity => ({
  ...{ name, readers, in: LENGTH },
  apply: (draft) => {
    draft.framingLines = [...lines(draft.body.length)];
  },
});

/** Replaces the line of chunks. */
const coding = (name: string, readers: Readers, ...lines: readonly string[]): Oddity => ({
  ...{ name, readers, in: CHUNKED, inHead: false },
  apply: (draft) => {
    draft.framingLines = [...lines];
  },
});

const extension = (name: string, readers: Readers, ...texts: readonly string[]): Oddity => ({
  ...{ name, readers, in: CHUNKED, inHead: false },
  apply: (draft, chance) => {
    draft.extension = chance.of(texts);
  },
});

const size = (name: string, readers: Readers, spell: (bytes: number) => string): Oddity => ({
  ...{ name, readers, in: CHUNKED, inHead: false },
  apply: (draft) => {
    draft.sizeOf = spell;
    draft.lastChunk = spell(0);
  },
});

const trailer = (name: string, readers: Readers, ...trailers: readonly string[]): Oddity => ({
  ...{ name, readers, in: CHUNKED, inHead: false },
  apply: (draft, chance) => {
    draft.trailers = [chance.of(trailers)];
  },
});

/**
 * The oddities of answers. Those that only Node accepts are deliberate differences: RFC 9112 lets a client refuse each
 * of them, and the gateway does. There is none that only the gateway accepts.
 */
export const ODDITIES: readonly Oddity[] = [
  line('folded line', 'nobody', 'x-a: b\r\n c', 'x-a: b\r\n\tc', 'x-a:\r\n b'),
  line('line feed in a field', 'nobody', 'x-a: b\nx-b: c', 'x-a: b\nContent-Length: 1'),
  line('carriage return in a field', 'nobody', 'x-a: b\rc', 'x-a: b\r', 'x-a\r: b'),
  line('control character in a field', 'nobody', 'x-a: b\0c', '\0', 'x-a: \x7f', 'x-a: \x0b', 'x-a: b\x1b[2J'),
  line('blank before a colon', 'nobody', 'x-a : b', 'x-a\t: b', 'Content-Length : 5', 'Transfer-Encoding : chunked'),
  line('no field', 'nobody', 'x-a', ': b', 'x(a): b', 'x a: b', '"x": b', '\xe9: b'),
  line('obs-text', 'both', 'x-a: \xe9\xff', 'x-a: caf\xc3\xa9'),
  line('blanks around a value', 'both', 'x-a:\t b\t ', 'x-a:', 'x-a: ', 'x-a:b\tc', 'x-a: :: b'),
  line('field twice', 'both', 'x-nonce: a\r\nX-NONCE: b', 'set-cookie: a\r\nset-cookie: b'),
  line('protocol offered', 'both', 'upgrade: h2c\r\nconnection: upgrade'),
  line('unusual tokens of the connection', 'both', 'connection: x, , y', 'connection:', 'connection: closed'),
  line('no-break space', 'both', 'connection: close\xa0', 'keep-alive: timeout=9\xa0', 'x-a: \xa0'),
  line('end of the connection', 'both', 'connection: close', 'Connection: Keep-Alive, CLOSE', 'connection: x,close\t'),
  line('stated idle time', 'both', 'keep-alive: timeout=1', 'keep-alive: timeout=60, max=1', 'keep-alive: timeout=x'),
  // RFC 9112 appendix C.2.2: it means nothing in an answer. Node closes the connection.
  line('proxy-connection', 'both', 'proxy-connection: close'),
  statusLine('no reason', 'both', 'HTTP/1.1', '200', ''),
  statusLine('blank reason', 'both', 'HTTP/1.1', '418', ' '),
  statusLine('odd reason', 'both', 'HTTP/1.1', '999', ' \t\xe9 '),
  statusLine('HTTP/0.9', 'node', 'HTTP/0.9', '200', ' OK'),
  statusLine('HTTP/2.0', 'node', 'HTTP/2.0', '200', ' OK'),
  statusLine('unknown version', 'nobody', 'HTTP/1.2', '200', ' OK'),
  statusLine('lower case', 'nobody', 'http/1.1', '200', ' OK'),
  statusLine('another protocol', 'nobody', 'ICY', '200', ' OK'),
  statusLine('two blanks', 'nobody', 'HTTP/1.1', ' 200', ' OK'),
  statusLine('status of two digits', 'nobody', 'HTTP/1.1', '20', ' OK'),
  statusLine('status of four digits', 'nobody', 'HTTP/1.1', '2000', ' OK'),
  statusLine('status below 100', 'node', 'HTTP/1.1', '099', ' OK'),
  statusLine('control character in a reason', 'node', 'HTTP/1.1', '200', ' O\0K'),
  statusLine('change of protocol', 'node', 'HTTP/1.1', '101', ' Switching Protocols'),
  {
    ...{ name: 'lines that end with a line feed', readers: 'nobody' },
    apply: (draft) => {
      draft.lineEnd = '\n';
    },
  },
  before('interim answers', 'both', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'),
  before('many interim answers', 'both', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(7)),
  before(
    ...(['interim answer with a length', 'both'] as const),
    ...['HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n', 'HTTP/1.1 199 x\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ),
  before(
    ...(['interim answer that ends the connection', 'nobody'] as const),
    ...['HTTP/1.1 102 Processing\r\nconnection: close\r\n\r\n', 'HTTP/1.0 100 Continue\r\n\r\n'],
  ),
  before('empty lines first', 'node', '\r\n', '\r\n\r\n'),
  before('bytes first', 'nobody', ' ', '\0', 'x\r\n', '0\r\n\r\n'),
  length('length twice', 'nobody', (bytes) => [`Content-Length: ${bytes}`, `Content-Length: ${bytes}`]),
  length('two lengths', 'nobody', (bytes) => [`Content-Length: ${bytes}`, `content-length: ${bytes + 1}`]),
  length('list of lengths', 'nobody', (bytes) => [`Content-Length: ${bytes}, ${bytes}`]),
  length('length and chunks', 'nobody', (bytes) => [`Content-Length: ${bytes}`, 'Transfer-Encoding: chunked']),
  length('length and identity', 'nobody', (bytes) => ['Transfer-Encoding: identity', `Content-Length: ${bytes}`]),
  length('length with a sign', 'nobody', (bytes) => [`Content-Length: +${bytes}`]),
  length('negative length', 'nobody', (bytes) => [`Content-Length: -${bytes}`]),
  length('length with a prefix', 'nobody', (bytes) => [`Content-Length: 0x${bytes.toString(16)}`]),
  length('length in two parts', 'nobody', (bytes) => [`Content-Length: ${bytes} 0`]),
  length('length beyond 64 bits', 'nobody', () => ['Content-Length: 18446744073709551617']),
  length('empty length', 'nobody', () => ['Content-Length:']),
  length('length with zeros and blanks', 'both', (bytes) => [`cOnTeNt-LeNgTh:\t 000${bytes} \t`]),
  coding('chunks in mixed case', 'both', 'tRaNsFeR-eNcOdInG: \tChUnKeD '),
  coding('tabulator after chunked', 'node', 'Transfer-Encoding: chunked\t'),
  coding('chunked twice', 'node', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
  coding('coding before chunked', 'node', 'Transfer-Encoding: gzip, chunked'),
  coding('coding after chunked', 'node', 'Transfer-Encoding: chunked, identity'),
  coding('unknown coding', 'node', 'Transfer-Encoding: xchunked'),
  coding('chunked in quotes', 'node', 'Transfer-Encoding: "chunked"'),
  coding('empty coding', 'nobody', 'Transfer-Encoding:'),
  {
    ...{ name: 'chunks of HTTP/1.0', readers: 'node', in: CHUNKED, inHead: false },
    apply: (draft) => {
      draft.version = 'HTTP/1.0';
    },
  },
  {
    ...{ name: 'HTTP/1.0', readers: 'both', in: ['length', 'close'] },
    apply: (draft, chance) => {
      draft.version = 'HTTP/1.0';
      draft.lines.push(chance.of(['connection: keep-alive', 'connection: keep-alive\xa0', 'x-a: b']));
    },
  },
  extension('extensions', 'both', ';a', ';a=b', ';a="b; \\"c\\" \xe9"', ';a;b=c;d=""', `;${'a'.repeat(300)}`),
  extension('extension that is no pair', 'node', ';=b', ';;a', ';a=', ';a=b"c"'),
  extension('empty extension', 'nobody', ';', ';a;'),
  extension('blank before an extension', 'nobody', ' ', '\t', ' ;a', '; a', ';a =b', ';a= b'),
  extension('control character in an extension', 'nobody', ';a\0', ';\x7f', ';a="\0"', ';a\nb', ';a="\n"'),
  extension('extension with two values', 'nobody', ';a=b=c', ';a="b"c'),
  extension('carriage return after a size', 'nobody', '\r', ';a\r', ';a="\r"'),
  size('size in upper case', 'both', (bytes) => bytes.toString(16).toUpperCase()),
  size('size with zeros', 'both', (bytes) => bytes.toString(16).padStart(9, '0')),
  size('size with more zeros', 'node', (bytes) => bytes.toString(16).padStart(15, '0')),
  size('size with a prefix', 'nobody', (bytes) => `0x${bytes.toString(16)}`),
  size('size with a sign', 'nobody', (bytes) => `+${bytes.toString(16)}`),
  size('blank before a size', 'nobody', (bytes) => ` ${bytes.toString(16)}`),
  size('size with a line feed', 'nobody', (bytes) => `${bytes.toString(16)}\n`),
  size('size beyond 64 bits', 'nobody', (bytes) => `1${bytes.toString(16).padStart(16, '0')}`),
  size('no size', 'nobody', () => ''),
  {
    ...{ name: 'chunk that ends otherwise', readers: 'nobody', in: CHUNKED, inHead: false },
    apply: (draft, chance) => {
      if (draft.body.length === 0) draft.body = Buffer.from('x');
      draft.chunkEnd = chance.of(['', '\n', '\r', '\n\r', '\n\n', 'x\n', 'x\r\n', '\r\r\n', ' \r\n']);
    },
  },
  trailer('trailers', 'both', 'x-a: b', 'x-a: b\r\nx-b:', 'x-a: \xe9', 'connection: x'),
  trailer('folded trailer', 'nobody', 'x-a: b\r\n c'),
  trailer('trailer that is no field', 'nobody', 'x-a', ': b', 'x-a : b', 'x-a: \0', 'x-a: b\nx-b: c', '0'),
  trailer('length in a trailer', 'nobody', 'Content-Length: 5', 'content-length: x'),
  trailer('coding in a trailer', 'node', 'Transfer-Encoding: chunked'),
];
