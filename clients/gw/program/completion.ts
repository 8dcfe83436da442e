import type { Action, Command } from './command.js';
import { completionOf } from './completion.rules.js';
import { COMPLETION_SCRIPTS, type Shell } from './completion-scripts.js';

const isShell = (name: string): name is Shell => Object.hasOwn(COMPLETION_SCRIPTS, name);

/** `gw completion`: a script that asks `gw complete` for candidates. */
export const completion: Action = async (gw) => {
  const shell = gw.argument(0);
  // The parser admits no other name.
  const text = isShell(shell) ? COMPLETION_SCRIPTS[shell] : '';
  return { result: { shell, script: text }, text };
};

/**
 * The candidates after words on the command line: each line is a value, a tab and its meaning; the last one says
 * whether file or folder names are candidates: `:none`, `:files` or `:folders`.
 *
 * @param words after `gw complete --`.
 * @param groups the meaning of the words that start several commands.
 */
export function completions(
  words: readonly string[],
  commands: readonly Command[],
  groups: Readonly<Record<string, string>>,
): string {
  const { choices, paths } = completionOf(words, commands, groups);
  return [...choices.map((choice) => choice.join('\t')), `:${paths}`].join('\n');
}
