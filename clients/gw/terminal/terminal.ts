import { styleText } from 'node:util';
import { Failure } from '../program/failure.js';
import { Progress } from './progress.js';

/** More than any key is long. */
const MAX_STDIN_BYTES = 65_536;

/** Colours of lines. */
export type Colour = 'green' | 'yellow' | 'red';

/** The standard streams of the process, as commands use them. */
export class Terminal {
  private readonly progress: Progress;

  constructor(private readonly streams: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>) {
    this.progress = new Progress(streams.stderr);
  }

  /** Whether a person sits at both ends. */
  get isInteractive(): boolean {
    return this.streams.stdin.isTTY === true && this.streams.stderr.isTTY === true;
  }

  /** Columns of the terminal that results go to; undefined where they are piped. */
  get columns(): number | undefined {
    const { isTTY, columns } = this.streams.stdout;
    return isTTY ? columns : undefined;
  }

  /**
   * Texts of a server may be among it: no control sequence of theirs reaches the terminal.
   *
   * @param colourOf the colour of a line. There is none without a terminal, or where the environment says so.
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

  /** Tells what is going on if it takes longer than half a second; until the next call or output. */
  tell(doing: string | undefined): void {
    this.progress.tell(doing);
  }

  /** Asks for a secret; what is typed is not shown. @returns undefined: left with Ctrl-C, as of every question. */
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

  /** A key on standard input, trimmed. @throws Failure there is none, or it is too long. */
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

  /** Everything on standard input; of more than so many bytes the beginning, which is longer. */
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

  /** Questions are not part of the result, which may be piped elsewhere. */
  private get promptStreams() {
    return { input: this.streams.stdin, output: this.streams.stderr };
  }
}

/** A prompt answers a symbol where it was left with Ctrl-C. */
function answered<T>(answer: T): Exclude<T, symbol> | undefined {
  return typeof answer === 'symbol' ? undefined : (answer as Exclude<T, symbol>);
}

/** Characters that change the direction of the text around them, or that are not seen: names could look like others. */
const DECEPTIVE = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g;

/** Control sequences of ECMA-48, 5.3 to 5.6: of texts, with parameters, and short ones. Node 20 takes more than them away. */
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]/g;
const withoutSequences = (text: string) => text.replaceAll(SEQUENCES, '');

const harmless = (text: string) =>
  withoutSequences(text)
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .replaceAll(DECEPTIVE, escaped);

/** JSON lets these characters stand, and terminals obey them. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** JSON whose every character is seen, and obeyed by no terminal. @param indent blanks; undefined: one line. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent)
    .replaceAll(/[\u007f-\u009f]/g, escaped)
    .replaceAll(DECEPTIVE, escaped);
}

/** Text of a server for a terminal: without control sequences, on one line. */
export function printable(text: string): string {
  return withoutSequences(text)
    .replace(/\p{Cc}+/gu, ' ')
    .replaceAll(DECEPTIVE, escaped);
}
