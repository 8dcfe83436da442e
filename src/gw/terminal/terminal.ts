import { stripVTControlCharacters } from 'node:util';
import { Failure } from '../program/failure.js';

/** More than any key is long. */
const MAX_STDIN_BYTES = 65_536;

/** The standard streams of the process, as commands use them. */
export class Terminal {
  constructor(private readonly streams: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>) {}

  print(text: string): void {
    this.streams.stdout.write(`${text}\n`);
  }

  printError(text: string): void {
    this.streams.stderr.write(`${text}\n`);
  }

  /** Everything on standard input, trimmed. @throws Failure it is empty or too long. */
  async readStdin(): Promise<string> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of this.streams.stdin) {
      chunks.push(Buffer.from(chunk));
      length += chunk.length;
      if (length > MAX_STDIN_BYTES) throw Failure.input('stdin_too_long', 'Standard input is too long for a key.');
    }
    const text = Buffer.concat(chunks).toString('utf8').trim();
    if (text === '') {
      const nextAction = 'Pipe the key in, for example: printenv KEY | gw … --key-stdin';
      throw Failure.input('stdin_empty', 'Standard input holds no key.', { nextAction });
    }
    return text;
  }
}

/** Text of a server for a terminal: without control sequences, on one line. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/\p{Cc}+/gu, ' ');
}
