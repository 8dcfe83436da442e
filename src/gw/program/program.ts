import { Command as CommanderCommand, CommanderError } from 'commander';
import { commands } from '../commands/commands.js';
import { Profiles } from '../state/profiles.js';
import type { Terminal } from '../terminal/terminal.js';
import type { Command } from './command.js';
import { type Context, failureEnvelope, successEnvelope } from './envelope.js';
import type { Environment } from './environment.js';
import { EXIT, Failure } from './failure.js';
import { Invocation } from './invocation.js';

const GROUPS: Readonly<Record<string, string>> = {
  deployment: 'Connect gateways and see how they are',
  account: 'Log in, log out, and see the account',
  provider: 'Providers of the account',
  app: 'Applications of the account',
};

const GLOBAL_OPTIONS = [
  ['--json', 'print one JSON document on standard output, also for errors'],
  ['--no-input', 'never ask; fail where an answer would be needed'],
  ['--profile <name>', 'the saved deployment to use (GW_PROFILE, else the current one)'],
] as const;

/** What a run needs of the process. */
export interface Process {
  readonly environment: Environment;
  readonly terminal: Terminal;
  /** Version of this program. */
  readonly version: string;
}

/** Runs one command line. @param typed without the program's name. @returns the exit code. */
export async function run(typed: readonly string[], { environment, terminal, version }: Process): Promise<number> {
  const isJson = typed.includes('--json');
  const context: Context = { url: null, accountId: null };
  const profiles = new Profiles(environment.stateFolder);
  const program = programOf(version, terminal, isJson, async (command, parsed) => {
    const invocation = new Invocation(parsed, environment, terminal, profiles, context);
    const action = await command.load();
    const { result, text } = await action(invocation);
    terminal.print(isJson ? JSON.stringify(successEnvelope(context, result)) : text);
  });
  try {
    await program.parseAsync([...typed], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const failure = failureOf(error);
    if (isJson) terminal.print(JSON.stringify(failureEnvelope(context, failure)));
    else terminal.printError(toldOf(failure));
    return failure.exitCode;
  }
}

type Parsed = ConstructorParameters<typeof Invocation>[0];

function programOf(
  version: string,
  terminal: Terminal,
  isJson: boolean,
  execute: (command: Command, parsed: Parsed) => Promise<void>,
): CommanderCommand {
  const program = new CommanderCommand('gw')
    .description('Manages an AI gateway from a terminal, through its public API.')
    .version(version, '--version', 'print the version')
    .helpCommand(true)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      // A refusal of the parser is told of like any other failure.
      writeErr: (text) => (text.startsWith('error:') || isJson ? undefined : terminal.printError(text.trimEnd())),
    });
  for (const command of commands) {
    const words = command.name.split(' ');
    const parent = words.slice(0, -1).reduce(groupOf, program);
    const leaf = parent.command(words.at(-1) ?? '').summary(command.summary);
    leaf.description(command.details === undefined ? command.summary : `${command.summary}.\n\n${command.details}`);
    for (const [name, meaning] of command.arguments ?? []) leaf.argument(name, meaning);
    for (const [flags, meaning] of [...(command.options ?? []), ...GLOBAL_OPTIONS]) leaf.option(flags, meaning);
    leaf.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  $ ${line}`).join('\n')}`);
    leaf.action((...given: readonly unknown[]) =>
      execute(command, { arguments: leaf.args, options: Object(given.at(-2)) }),
    );
  }
  return program;
}

function groupOf(parent: CommanderCommand, name: string): CommanderCommand {
  const known = parent.commands.find((command) => command.name() === name);
  return known ?? parent.command(name).description(GROUPS[name] ?? name);
}

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '');
    return Failure.input('invalid_command', message === '(outputHelp)' ? 'a command is missing' : message, {
      nextAction: 'See what there is: gw --help',
    });
  }
  throw error;
}

function toldOf({ message, code, nextAction }: Failure): string {
  return `Error: ${message} (${code})${nextAction === null ? '' : `\n${nextAction}`}`;
}
