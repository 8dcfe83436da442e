import type { Invocation } from './invocation.js';

/** What a command answers: the data of `--json`, and the lines for people. */
interface Outcome {
  readonly result: object;
  readonly text: string;
}

/** Runs a command. @throws Failure */
export type Action = (gw: Invocation) => Promise<Outcome>;

/** Flags as commander reads them, and what they mean. */
type Described = readonly (readonly [string, string])[];

/** A command as help, completion and documentation show it. */
export interface Command {
  /** Words after `gw`, as `provider show`. */
  readonly name: string;
  readonly summary: string;
  /** More than the summary, for the help of the command. */
  readonly details?: string;
  /** Positional arguments, `<required>` or `[optional]`. */
  readonly arguments?: Described;
  readonly options?: Described;
  /** Lines that can be typed as they are. */
  readonly examples: readonly string[];
  /** Loaded when the command runs, so that help stays fast. */
  readonly load: () => Promise<Action>;
}
