import type { Command } from './command.js';
import { GLOBAL_OPTIONS } from './global-options.js';

/** The candidates at the cursor: words, or names of files or folders, which the shell completes. */
export interface Completion {
  readonly choices: readonly (readonly [value: string, meaning: string])[];
  readonly paths: 'none' | 'files' | 'folders';
}

type Described = NonNullable<Command['options']>[number];

const NOTHING: Completion = { choices: [], paths: 'none' };
/** Redirections of POSIX shells, each with its target in the next word. */
const REDIRECTION = /^(?:\d*|&)(?:>[>|&]?|<(?:<<?|[>&])?)$/;
const FILES = /^[<[](?:file|path)[\]>]$/;
const FOLDERS = /^[<[]directory[\]>]$/;

/**
 * The candidates for the last word of a command line.
 *
 * @param words after `gw`, as typed: quotes, substitutions and redirections included. The last one is unfinished and
 * may be empty.
 * @param groups the meaning of the words that start several commands.
 */
export function completionOf(
  words: readonly string[],
  commands: readonly Command[],
  groups: Readonly<Record<string, string>>,
): Completion {
  const current = (words.at(-1) ?? '').replace(/^["']/, '');
  const before = words.slice(0, -1);
  if (REDIRECTION.test(before.at(-1) ?? '')) return { ...NOTHING, paths: 'files' };
  const { positional, pending } = readWords(withoutRedirections(before), commands);
  const command = commandOf(positional, commands);
  const options = [...(command?.options ?? []), ...(command === undefined ? [] : GLOBAL_OPTIONS)];
  if (pending !== undefined) return optionValue(optionNamed(pending, options), current);
  const [flag, value] = splitAtEquals(current);
  if (value !== undefined) return optionValue(optionNamed(flag, options), value);
  if (current.startsWith('-')) {
    return wordsOf(
      options.map(([flags, meaning]) => [flagOf(flags), meaning]),
      current,
    );
  }
  const next = nextWords(positional, commands, groups);
  if (next.length > 0 || command === undefined) return wordsOf(next, current);
  const argument = command.arguments?.[positional.length - command.name.split(' ').length];
  return argument === undefined ? NOTHING : placeholderOf(argument[0], argument[2], current);
}

/** Words that are neither options nor their values, and the option at the end that waits for its value. */
function readWords(words: readonly string[], commands: readonly Command[]) {
  const options = [...commands.flatMap((command) => command.options ?? []), ...GLOBAL_OPTIONS];
  const positional: string[] = [];
  let pending: string | undefined;
  for (const word of words) {
    if (pending !== undefined) pending = undefined;
    else if (!word.startsWith('-')) positional.push(word);
    else if (placeholderIn(optionNamed(word, options)) !== undefined) pending = word;
  }
  return { positional, pending };
}

function withoutRedirections(words: readonly string[]): string[] {
  return words.filter((word, at) => !REDIRECTION.test(word) && !REDIRECTION.test(words[at - 1] ?? ''));
}

/** The one with the longest name. */
function commandOf(positional: readonly string[], commands: readonly Command[]): Command | undefined {
  const typed = `${positional.join(' ')} `;
  const begun = commands.filter(({ name }) => typed.startsWith(`${name} `));
  return begun.sort((one, other) => other.name.length - one.name.length)[0];
}

function nextWords(
  positional: readonly string[],
  commands: readonly Command[],
  groups: Readonly<Record<string, string>>,
): (readonly [string, string])[] {
  const typed = positional.map((word) => `${word} `).join('');
  const begun = commands.filter(({ name }) => name.startsWith(typed));
  const next = new Map(
    begun.map(({ name, summary }) => {
      const word = name.slice(typed.length).split(' ')[0] ?? '';
      return [word, groups[typed + word] ?? summary];
    }),
  );
  return [...next];
}

const flagOf = (flags: string) => flags.split(' ')[0] ?? '';

/** The value of an option, such as `<file>`. */
const placeholderIn = (option: Described | undefined) => option?.[0].split(' ')[1];

function optionNamed(flag: string, options: readonly Described[]): Described | undefined {
  return options.find(([flags]) => flagOf(flags) === flag);
}

function splitAtEquals(word: string): readonly [flag: string, value: string | undefined] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function optionValue(option: Described | undefined, value: string): Completion {
  return placeholderOf(placeholderIn(option) ?? '', option?.[2], value);
}

function placeholderOf(placeholder: string, choices: readonly string[] | undefined, begun: string): Completion {
  if (FILES.test(placeholder)) return { ...NOTHING, paths: 'files' };
  if (FOLDERS.test(placeholder)) return { ...NOTHING, paths: 'folders' };
  return wordsOf(
    (choices ?? []).map((choice) => [choice, '']),
    begun,
  );
}

function wordsOf(choices: Completion['choices'], begun: string): Completion {
  return { choices: choices.filter(([value]) => value.startsWith(begun)), paths: 'none' };
}
