import type { Profiles } from '../state/profiles.js';
import type { Terminal } from '../terminal/terminal.js';
import type { Context } from './envelope.js';
import type { Environment } from './environment.js';

/** A command with what was typed after it, and all it may use. */
export class Invocation {
  constructor(
    private readonly typed: {
      readonly arguments: readonly (string | undefined)[];
      readonly options: Readonly<Record<string, unknown>>;
    },
    readonly environment: Environment,
    readonly terminal: Terminal,
    readonly profiles: Profiles,
    readonly context: Context,
  ) {}

  /** A required argument by its position; the parser has seen that it is there. */
  argument(position: number): string {
    return this.typed.arguments[position] ?? '';
  }

  /** The value of an option, by its name in camel case. */
  text(name: string): string | undefined {
    const value = this.typed.options[name];
    return typeof value === 'string' ? value : undefined;
  }

  flag(name: string): boolean {
    return this.typed.options[name] === true;
  }

  /** Whether a person may be asked or waited for: not with `--no-input`. */
  get mayAsk(): boolean {
    return this.typed.options.input !== false;
  }

  /** The profile to use: as typed, of the environment, or the current one. */
  get profileName(): string {
    return this.text('profile') ?? this.environment.profile ?? this.profiles.current();
  }
}
