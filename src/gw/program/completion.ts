import { type ArgumentHandler, type OptionHandler, RootCommand, script } from '@bomb.sh/tab';
import type { Action, Command } from './command.js';
import { GLOBAL_OPTIONS } from './global-options.js';

/** `gw completion`: a script that asks `gw complete` for what can follow. */
export const completion: Action = async (gw) => {
  const shell = gw.argument(0);
  const text = printedBy(() => script(shell, 'gw', 'gw')).trimEnd();
  return { result: { shell, script: text }, text };
};

/**
 * What can follow words on the command line: a value and its meaning in each line.
 *
 * @param words after `gw complete --`.
 * @param groups what the words mean that begin several commands.
 */
export function completions(
  words: readonly string[],
  commands: readonly Command[],
  groups: Readonly<Record<string, string>>,
): string {
  const root = new RootCommand();
  for (const [group, meaning] of Object.entries(groups)) root.command(group, meaning);
  for (const { name, summary, arguments: positional = [], options = [] } of commands) {
    const command = root.command(name, summary);
    for (const [flags, meaning, choices] of [...options, ...GLOBAL_OPTIONS]) {
      const [flag = '', value] = flags.replace(/^--/, '').split(' ');
      if (value === undefined) command.option(flag, meaning);
      else command.option(flag, meaning, offering(choices));
    }
    for (const [argument, , choices] of positional) {
      command.argument(argument, offering(choices));
    }
  }
  return printedBy(() => root.parse([...words])).trimEnd();
}

/** What can stand for a value. */
function offering(choices: readonly string[] = []): OptionHandler & ArgumentHandler {
  return (complete) => {
    for (const choice of choices) complete(choice, '');
  };
}

/** The package prints where it could answer. */
function printedBy(run: () => void): string {
  const lines: string[] = [];
  const { log } = globalThis.console;
  globalThis.console.log = (line: unknown) => {
    lines.push(String(line));
  };
  try {
    run();
  } finally {
    globalThis.console.log = log;
  }
  return lines.join('\n');
}
