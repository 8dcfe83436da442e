import { Command as CommanderCommand, CommanderError, Option } from 'commander';
import type { Place } from '../api/advice.rules.js';
import { Keychain } from '../state/keychain.js';
import { Profiles } from '../state/profiles.js';
import { Journal } from '../state/request-proofs.js';
import { StateFolder } from '../state/state-folder.js';
import type { Terminal } from '../terminal/terminal.js';
import { type Command, detailsOf } from './command.js';
import { commands, GROUPS } from './commands.js';
import { type Context, failureEnvelope, successEnvelope } from './envelope.js';
import type { Environment } from './environment.js';
import { asFailure, EXIT, Failure } from './failure.js';
import { GLOBAL_OPTIONS, withGlobalsLast } from './global-options.js';
import { Invocation, type Tools } from './invocation.js';

/** What a run needs from the process. */
export interface Process {
  readonly environment: Environment;
  readonly terminal: Terminal;
  /** Version of this program. */
  readonly version: string;
  nowMs(): number;
  /** Reports a request to stop. @param stop returns the exit code; undefined: the command ends by itself. */
  whenInterrupted(stop: () => number | undefined): void;
}

/** Runs one command line. @param typed without the program's name. @returns the exit code. */
export async function run(
  typed: readonly string[],
  { environment, terminal, version, nowMs, whenInterrupted }: Process,
): Promise<number> {
  if (typed[0] === 'complete' && typed[1] === '--') {
    terminal.print((await import('./completion.js')).completions(typed.slice(2), commands, GROUPS));
    return EXIT.ok;
  }
  const isJson = typed.includes('--json');
  const context: Context = { url: null, accountId: null };
  const state = new StateFolder(environment.stateFolder);
  const profiles = new Profiles(state, new Keychain(environment.usesKeychain));
  const tools: Tools = {
    ...{ environment, terminal, state, profiles, context, version, nowMs },
    journal: new Journal(state, nowMs),
  };
  const tellFailure = (failure: Failure): number => {
    if (isJson) terminal.printJson(failureEnvelope(context, failure));
    else terminal.printError(toldOf(failure), 'red');
    return failure.exitCode;
  };
  let exitCode: number = EXIT.ok;
  let place: Place | undefined;
  const documentation = () => documentationAddress(environment, profiles);
  const program = programOf({ version, terminal, isJson, documentation }, async (command, parsed) => {
    const invocation = new Invocation(parsed, tools);
    place = placeOf(command, parsed, environment);
    whenInterrupted(() => {
      const failure = invocation.interrupt();
      return failure === undefined ? undefined : tellFailure(failure);
    });
    const action = await command.load();
    terminal.tell('Working');
    const outcome = await action(invocation);
    exitCode = outcome.exitCode ?? EXIT.ok;
    if (isJson) terminal.printJson(successEnvelope(context, outcome.result));
    else if (outcome.text !== '') terminal.print(outcome.text, outcome.colourOf);
    if (!isJson && outcome.note !== undefined) terminal.printError(outcome.note);
    terminal.tell(undefined);
  });
  const words = withGlobalsLast(helpLast(typed), commands.flatMap(namesOf));
  try {
    await program.parseAsync([...words], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const failure = failureOf(error, program, words);
    if (place === undefined || failure.nextAction !== null) return tellFailure(failure);
    const { adviceOn } = await import('../api/advice.rules.js');
    return tellFailure(failure.withAdvice(adviceOn(failure, place)));
  }
}

/** Of the deployment that a command would call. Help is shown even with damaged profiles. */
function documentationAddress({ url, profile }: Environment, profiles: Profiles): string {
  try {
    return `${url ?? profiles.readable(profile ?? profiles.current())?.url ?? '<address of the gateway>'}/docs`;
  } catch {
    return '<address of the gateway>/docs';
  }
}

function placeOf({ name, options = [] }: Command, parsed: Parsed, { managementKey }: Environment): Place {
  return {
    ...{ command: name, subject: parsed.arguments[0], hasEnvironmentKey: managementKey !== undefined },
    options: options.map(([flags]) => flags.split(' ')[0] ?? ''),
  };
}

type Execute = (command: Command, parsed: Parsed) => Promise<void>;
type Parsed = ConstructorParameters<typeof Invocation>[0];

interface Setting {
  readonly version: string;
  readonly terminal: Terminal;
  readonly isJson: boolean;
  readonly documentation: () => string;
}

function programOf({ version, terminal, isJson, documentation }: Setting, execute: Execute): CommanderCommand {
  const program = new CommanderCommand('gw')
    .description('Manages an AI gateway from a terminal, through its public API.')
    .version(version, '--version', 'print the version')
    .helpCommand(true)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      // A parser error is reported like any other failure.
      writeErr: (text) => (text.startsWith('error:') || isJson ? undefined : terminal.printError(text.trimEnd())),
    });
  const globals = GLOBAL_OPTIONS.map(([flags, meaning]) => `  ${flags.padEnd(18)}  ${meaning}`);
  program.addHelpText('after', `\nOptions of every command, before or after its name:\n${globals.join('\n')}`);
  program.addHelpText('after', () => `\nDocumentation: ${documentation()}`);
  for (const command of commands) {
    for (const name of namesOf(command)) addCommand(program, name, command, execute);
  }
  return program;
}

const namesOf = ({ name, aliases = [] }: Command) => [name, ...aliases];

function addCommand(program: CommanderCommand, name: string, command: Command, execute: Execute): void {
  const words = name.split(' ');
  const parent = words.slice(0, -1).reduce(groupOf, program);
  const leaf = parent.command(words.at(-1) ?? '', { hidden: name !== command.name }).summary(command.summary);
  leaf.description([command.summary, detailsOf(command)].filter(Boolean).join('.\n\n'));
  for (const [name, meaning, choices] of command.arguments ?? []) {
    const argument = leaf.createArgument(name, meaning);
    leaf.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const [flags, meaning, choices] of [...(command.options ?? []), ...GLOBAL_OPTIONS]) {
    const option = new Option(flags, meaning);
    leaf.addOption(choices === undefined ? option : option.choices(choices));
  }
  leaf.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  $ ${line}`).join('\n')}`);
  leaf.action((...given: readonly unknown[]) =>
    execute(command, { arguments: leaf.args, options: Object(given.at(-2)) }),
  );
}

function groupOf(parent: CommanderCommand, name: string): CommanderCommand {
  const known = parent.commands.find((command) => command.name() === name);
  if (known !== undefined) return known;
  const words = parent.parent === null ? name : `${parent.name()} ${name}`;
  return parent.command(name).description(GROUPS[words] ?? words);
}

/** `help app key add` as `app key add --help`: the parser's own help command takes one word. */
function helpLast(typed: readonly string[]): readonly string[] {
  const [first, ...words] = typed;
  return first === 'help' && words.length > 1 ? [...words, '--help'] : typed;
}

/** The help that explains a command line that was refused: that of its last known word. */
function helpOf(program: CommanderCommand, given: readonly string[]): string {
  let known = program;
  const words = ['gw'];
  for (const word of given) {
    const next = known.commands.find((command) => command.name() === word);
    if (next === undefined) break;
    known = next;
    words.push(word);
  }
  return `${known.commands.length > 0 ? 'List the commands' : 'See its options'}: ${words.join(' ')} --help`;
}

function failureOf(error: unknown, program: CommanderCommand, words: readonly string[]): Failure {
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '');
    return Failure.input('invalid_command', message === '(outputHelp)' ? 'a command is missing' : message, {
      nextAction: helpOf(program, words),
    });
  }
  return asFailure(error);
}

/** A failure as text for people. */
export function toldOf({ message, code, nextAction }: Failure): string {
  return `Error: ${message} (${code})${nextAction === null ? '' : `\n${nextAction}`}`;
}
