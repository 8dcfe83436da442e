import type { Chance } from '../../support/chance.js';

/** Syntax of messages in the wrong places. */
const TOKENS: readonly string[] = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\0',
    ' ',
    '\t',
    ':',
    ',',
    ';',
    '%',
    '%00',
    '#',
    '?',
    '/',
    '//',
    '..',
    '\x7f',
    '\x0b',
    '\xff',
    '\r\n\r\n',
  ],
  ...[
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: gzip\r\n',
    'Content-Length: 5\r\n',
    'Content-Length: -1\r\n',
    'Host: b\r\n',
  ],
  ...[
    'Expect: 100-continue\r\n',
    'Connection: close\r\n',
    'Connection: upgrade\r\nUpgrade: h2c\r\n',
    'Content-Encoding: gzip\r\n',
  ],
  ...[
    'HTTP/1.0',
    'HTTP/2.0',
    'http://b',
    '0\r\n\r\n',
    'ffffffffffffffff\r\n',
    '5\r\nhello\r\n',
    'GET / HTTP/1.1\r\n',
    'a'.repeat(40_000),
  ],
];

/** The bytes of a message after one to four changes: insertions, cuts, repetitions, other bytes. */
export function changedMessage(message: string, chance: Chance): string {
  let text = message;
  for (let left = 1 + chance.below(4); left > 0; left--) {
    const at = chance.below(text.length + 1);
    const end = Math.min(at + chance.below(30), text.length);
    text = chance.of([
      () => text.slice(0, at) + chance.of(TOKENS) + text.slice(at),
      () => text.slice(0, at) + chance.of(TOKENS) + text.slice(at),
      () => text.slice(0, at) + text.slice(end),
      () => text.slice(0, end) + text.slice(at),
      () => text.slice(0, at) + String.fromCharCode(chance.below(256)) + text.slice(at + 1),
      () => text.slice(0, at),
    ])();
  }
  return text;
}

/** An answer among those of a connection. */
export interface ReadAnswer {
  readonly status: number;
  /** Of a refusal: its envelope. */
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}

/** The answers that came over a connection, in order; interim ones too. */
export function answersIn(text: string): readonly ReadAnswer[] {
  return text.split(/(?=HTTP\/1\.1 \d{3} [A-Z])/).map((part) => {
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(part)?.[1]);
    const envelope = /\{"error":.*\}/.exec(part)?.[0];
    return { status, ...(envelope === undefined ? {} : { error: JSON.parse(envelope).error }) };
  });
}
