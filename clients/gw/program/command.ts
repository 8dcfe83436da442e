import type { Colour } from '../terminal/terminal.js';
import type { Invocation } from './invocation.js';

/** The result of a command: the data of `--json`, and the lines for people. */
export interface Outcome {
  readonly result: object;
  readonly text: string;
  /** The colour of a line of the text. */
  readonly colourOf?: (line: string) => Colour | undefined;
  /** A line for people after the text, on standard error, so that it is not piped. */
  readonly note?: string;
  /** Nonzero only if a success has several outcomes. */
  readonly exitCode?: number;
}

/** Runs a command. @throws Failure */
export type Action = (gw: Invocation) => Promise<Outcome>;

/** Flags as commander reads them, what they mean, and the values they take. */
type Described = readonly (readonly [flags: string, meaning: string, choices?: readonly string[]])[];

/** A command as help, completion and documentation show it. */
export interface Command {
  /** Words after `gw`, such as `provider show`. */
  readonly name: string;
  /** Other names of it, each as a whole, for those who type what other programs call it. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** More than the summary, for the help of the command. */
  readonly details?: string;
  /** Positional arguments, `<required>` or `[optional]`. */
  readonly arguments?: Described;
  readonly options?: Described;
  /** Lines that can be typed unchanged. */
  readonly examples: readonly string[];
  /** JSON Schema of the result of `--json`. */
  readonly result: object;
  /** Loaded when the command runs, so that help stays fast. */
  readonly load: () => Promise<Action>;
}

/** More than the summary, with the other names of the command; empty without either. */
export function detailsOf({ details = '', aliases = [] }: Command): string {
  const also = aliases.length === 0 ? '' : `Also ${aliases.map((name) => `gw ${name}`).join(', ')}.`;
  return [details, also].filter(Boolean).join(' ');
}

/** The schema of a result with these members, each required. */
export function members(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/**
 * The schema of the successful response of an operation, filled in when schemas are written.
 *
 * @param operation as `GET /v1/admin/providers`.
 */
export const answerOf = (operation: string) => ({ 'x-answer': operation });

/** The schema of a component of the API. */
export const component = (name: string) => ({ $ref: `#/$defs/${name}` });

/** The result of a command whose last step a person completes in a browser. */
export const STEP = members({ operation: component('OperationResponse') });
