import { once } from 'node:events';
import { styleText } from 'node:util';
import { Failure } from '../program/failure.js';
import { Progress } from './progress.js';

/** Longer than any key. */
const MAX_STDIN_BYTES = 65_536;

/** Colours of lines. */
export type Colour = 'green' | 'yellow' | 'red';

/** The standard streams of the process, as commands use them. */
export class Terminal {
  private readonly progress: Progress;

  constructor(private readonly streams: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>) {
    this.progress = new Progress(streams.stderr);
  }

  /** Whether input and output are a terminal. */
  get isInteractive(): boolean {
    return this.streams.stdin.isTTY === true && this.streams.stderr.isTTY === true;
  }

  /** Columns of the terminal for results; undefined if they are piped. */
  get columns(): number | undefined {
    const { isTTY, columns } = this.streams.stdout;
    return isTTY ? columns : undefined;
  }

  /**
   * Removes control sequences, which texts of a server may contain.
   *
   * @param colourOf the colour of a line. No colours without a terminal, or if the environment disables them.
   */
  print(text: string, colourOf: (line: string) => Colour | undefined = () => undefined): void {
    this.progress.hide();
    const stream = this.streams.stdout;
    const lines = harmless(text)
      .split('\n')
      .map((line) => {
        const colour = colourOf(line);
        return colour === undefined ? line : styleText(colour, line, { stream });
      });
    stream.write(`${lines.join('\n')}\n`);
  }

  /** Without an end of line. */
  write(text: string): void {
    this.progress.hide();
    this.streams.stdout.write(harmless(text));
  }

  /** Unchanged, for data that is piped. Waits for a slow reader. */
  async writeBytes(bytes: Uint8Array): Promise<void> {
    this.progress.hide();
    if (!this.streams.stdout.write(bytes)) await once(this.streams.stdout, 'drain');
  }

  /** As `print`, on standard error. @param colour of the first line. */
  printError(text: string, colour?: Colour): void {
    this.progress.hide();
    const stream = this.streams.stderr;
    const [first = '', ...others] = harmless(text).split('\n');
    const shown = colour === undefined ? first : styleText(colour, first, { stream });
    stream.write(`${[shown, ...others].join('\n')}\n`);
  }

  /** One document in one line, for programs. */
  printJson(document: object): void {
    this.progress.hide();
    this.streams.stdout.write(`${jsonText(document)}\n`);
  }

  /** Shows progress after half a second, until the next call or output. */
  tell(doing: string | undefined): void {
    this.progress.tell(doing);
  }

  /** Asks for a secret without echo. @returns undefined: cancelled with Ctrl-C, as for every question. */
  async askSecret(question: string): Promise<string | undefined> {
    const { password } = await this.prompts();
    const validate = (text: string | undefined) => (text?.trim() ? undefined : 'Type or paste it, then press Enter.');
    return answered(await password({ message: question, validate, ...this.promptStreams }))?.trim();
  }

  async askText(question: string): Promise<string | undefined> {
    const { text } = await this.prompts();
    const validate = (typed: string | undefined) => (typed?.trim() ? undefined : 'Type an answer, then press Enter.');
    return answered(await text({ message: question, validate, ...this.promptStreams }))?.trim();
  }

  async confirm(question: string): Promise<boolean | undefined> {
    const { confirm } = await this.prompts();
    return answered(await confirm({ message: question, initialValue: false, ...this.promptStreams }));
  }

  /** A key on standard input, trimmed. @throws Failure if it is missing or too long. */
  async readStdin(): Promise<string> {
    const bytes = await this.readAll(MAX_STDIN_BYTES);
    if (bytes.length > MAX_STDIN_BYTES) throw Failure.input('stdin_too_long', 'Standard input is too long for a key.');
    const text = Buffer.from(bytes).toString('utf8').trim();
    if (text === '') {
      const nextAction = 'Pipe the key in, for example: printenv KEY | gw … --key-stdin';
      throw Failure.input('stdin_empty', 'Standard input holds no key.', { nextAction });
    }
    return text;
  }

  /** All of standard input; of a longer one its start, which exceeds this many bytes. */
  async readAll(mostBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of this.streams.stdin) {
      chunks.push(Buffer.from(chunk));
      length += chunk.length;
      if (length > mostBytes) break;
    }
    return new Uint8Array(Buffer.concat(chunks));
  }

  /** Loaded when a question is asked, so that other commands stay fast. */
  private prompts() {
    this.progress.hide();
    return import('@clack/prompts');
  }

  /** Questions are not part of the result, which may be piped. */
  private get promptStreams() {
    return { input: this.streams.stdin, output: this.streams.stderr };
  }
}

/** A prompt cancelled with Ctrl-C returns a symbol. */
function answered<T>(answer: T): Exclude<T, symbol> | undefined {
  return typeof answer === 'symbol' ? undefined : (answer as Exclude<T, symbol>);
}

/** Invisible characters and those that change the text direction: names could look like others. */
const DECEPTIVE = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g;

/**
 * Control sequences of ECMA-48, 5.3 to 5.6: of texts, with parameters, and short ones. Node 20 strips more than these.
 */
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them
  /(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]/g;
const withoutSequences = (text: string) => text.replaceAll(SEQUENCES, '');

const harmless = (text: string) =>
  withoutSequences(text)
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .replaceAll(DECEPTIVE, escaped);

/** JSON allows these characters, and terminals interpret them. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** JSON with only visible characters, which no terminal interprets. @param indent blanks; undefined: one line. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent)
    .replaceAll(/[\u007f-\u009f]/g, escaped)
    .replaceAll(DECEPTIVE, escaped);
}

/** Text from a server for a terminal: without control sequences, on one line. */
export function printable(text: string): string {
  return withoutSequences(text)
    .replace(/\p{Cc}+/gu, ' ')
    .replaceAll(DECEPTIVE, escaped);
}
