import { readFileSync } from 'node:fs';
import type { Profiles } from '../state/profiles.js';
import type { Journal } from '../state/request-proofs.js';
import type { StateFolder } from '../state/state-folder.js';
import type { Colour, Terminal } from '../terminal/terminal.js';
import type { Context } from './envelope.js';
import type { Environment } from './environment.js';
import { EXIT, Failure } from './failure.js';

/** What a command may use besides its words. */
export interface Tools {
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly state: StateFolder;
  readonly profiles: Profiles;
  readonly journal: Journal;
  readonly context: Context;
  /** Version of this program. */
  readonly version: string;
  nowMs(): number;
}

/** The results of a command before it is stopped. */
interface SoFar {
  /** For people: printed on standard output before the message. */
  readonly text: string;
  readonly colourOf?: (line: string) => Colour | undefined;
  /** For programs: the details of the failure. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Words as the parser read them. */
interface Typed {
  readonly arguments: readonly (string | undefined)[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** A command with its arguments and everything it may use. */
export class Invocation {
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly state: StateFolder;
  readonly profiles: Profiles;
  readonly journal: Journal;
  readonly context: Context;
  readonly version: string;
  readonly nowMs: () => number;
  /** The progress of the command, for a person who stops it. */
  standing = 'Nothing was changed.';
  /** The results if the command is stopped; undefined: none yet. */
  soFar: (() => SoFar) | undefined;
  /** Set during a step that should complete: the command then stops after it. */
  isInStep = false;
  /** Set while another program, such as an editor, has the terminal: Ctrl-C is for it. */
  isHandedOver = false;
  private isStopAsked = false;
  private chosenProfile: string | undefined;

  constructor(
    private readonly typed: Typed,
    tools: Tools,
  ) {
    ({ environment: this.environment, terminal: this.terminal, state: this.state, context: this.context } = tools);
    ({ profiles: this.profiles, journal: this.journal, version: this.version, nowMs: this.nowMs } = tools);
  }

  /** A required argument by position; the parser has checked that it is present. */
  argument(position: number): string {
    return this.typed.arguments[position] ?? '';
  }

  optionalArgument(position: number): string | undefined {
    return this.typed.arguments[position];
  }

  /** The value of an option, by its name in camel case. */
  text(name: string): string | undefined {
    const value = this.typed.options[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** The value of a required option. @throws Failure if it is missing. */
  required(name: string): string {
    const value = this.text(name);
    if (value !== undefined) return value;
    throw Failure.input('option_required', `${flagOf(name)} is missing.`, {
      nextAction: 'See the examples with --help.',
    });
  }

  /** The value of an option with fixed choices; the parser has checked it. */
  choice<T extends string>(name: string, values: readonly T[]): T | undefined {
    return values.find((value) => value === this.text(name));
  }

  /** The values of an option that can be given more than once; undefined without it. */
  texts(name: string): readonly string[] | undefined {
    const value = this.typed.options[name];
    return Array.isArray(value) ? value.map(String) : undefined;
  }

  flag(name: string): boolean {
    return this.typed.options[name] === true;
  }

  /** An option that is on unless `--no-` is given. */
  isLeft(name: string): boolean {
    return this.typed.options[name] !== false;
  }

  /** The integer of an option. @throws Failure if it is not one, or out of range. */
  integer(name: string, { min, max }: { readonly min: number; readonly max: number }): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw Failure.input('invalid_option', `${flagOf(name)}: must be a whole number from ${min} to ${max}.`);
  }

  /** JSON of an option, or of the file that it names with `@`. @throws Failure it is neither. */
  json(name: string): unknown {
    const text = this.text(name);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const nextAction = `Give JSON, or a file of it: ${flagOf(name)} @file.json`;
      throw Failure.input('invalid_option', `${flagOf(name)}: ${reason}`, { nextAction });
    }
  }

  /**
   * A request to stop. @returns why the command ends; undefined: after the current step. A second request ends it
   * immediately.
   */
  interrupt(): Failure | undefined {
    if (this.isHandedOver) return undefined;
    if (this.isInStep && !this.isStopAsked) {
      this.isStopAsked = true;
      return undefined;
    }
    return this.interrupted();
  }

  /** Between two steps. @throws Failure if a stop was requested. */
  stopIfAsked(): void {
    if (this.isStopAsked) throw this.interrupted();
  }

  /** Prints the results so far, and returns why the command ends. */
  private interrupted(): Failure {
    const soFar = this.soFar?.();
    if (soFar !== undefined && !this.isJson) this.terminal.print(soFar.text, soFar.colourOf);
    const facts = soFar === undefined ? {} : { details: soFar.details };
    return new Failure(EXIT.interrupted, 'interrupted', `Interrupted. ${this.standing}`, facts);
  }

  get isJson(): boolean {
    return this.flag('json');
  }

  /** Whether the command may wait for an external step: not with `--no-input`. */
  get mayWait(): boolean {
    return this.isLeft('input');
  }

  /** Whether a person can answer a question. */
  get mayAsk(): boolean {
    return this.mayWait && !this.isJson && this.terminal.isInteractive;
  }

  /** The profile to use: as typed, of the environment, or the current one. */
  get profileName(): string {
    return this.chosenProfile ?? this.text('profile') ?? this.environment.profile ?? this.profiles.current();
  }

  /** A typed line. @throws Failure if the question was cancelled with Ctrl-C. */
  async askText(question: string): Promise<string> {
    return this.answered(this.terminal.askText(question));
  }

  /** Uses a saved gateway only for this command. */
  useProfile(name: string): void {
    this.chosenProfile = name;
  }

  /**
   * A secret from standard input (`--key-stdin`), or typed without echo. @param what the prompt, such as "Key of the
   * provider".
   */
  async secret(what: string): Promise<string> {
    if (this.flag('keyStdin')) return this.terminal.readStdin();
    if (this.mayAsk) return this.answered(this.terminal.askSecret(what));
    const nextAction = 'Pipe it in: printenv KEY | gw … --key-stdin';
    throw Failure.input('key_required', `${what}: no input.`, { nextAction });
  }

  /** Continues only with `--yes` or after a confirmation. @throws Failure otherwise. */
  async confirm(question: string): Promise<void> {
    if (this.flag('yes')) return;
    if (!this.mayAsk) {
      throw Failure.input('confirmation_required', `${question} Input is not possible here.`, {
        nextAction: 'Confirm with --yes.',
      });
    }
    if (!(await this.answered(this.terminal.confirm(question))))
      throw new Failure(EXIT.interrupted, 'declined', this.standing);
  }

  /** @param answer undefined if the question was cancelled with Ctrl-C. @throws Failure if it was. */
  private async answered<T>(answer: Promise<T | undefined>): Promise<T> {
    const given = await answer;
    if (given === undefined) throw this.interrupted();
    return given;
  }
}

/** An option as typed. */
function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
