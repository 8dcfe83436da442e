/** Options of every command. */
export const GLOBAL_OPTIONS = [
  ['--json', 'print one JSON document on standard output, also for errors'],
  ['--no-input', 'never prompt; fail if input is needed'],
  ['--profile <name>', 'the saved deployment to use (GW_PROFILE, else the current one)'],
] as const satisfies readonly (readonly [flags: string, meaning: string])[];

/**
 * A command line with the global options moved after the words of the command.
 *
 * @param names of all commands.
 */
export function withGlobalsLast(typed: readonly string[], names: readonly string[]): readonly string[] {
  const [words, globals]: [string[], string[]] = [[], []];
  let at = 0;
  for (; at < typed.length; at++) {
    const word = typed[at] ?? '';
    const flags = GLOBAL_OPTIONS.map(([text]) => text.split(' ')).find(
      ([flag = '']) => word === flag || word.startsWith(`${flag}=`),
    );
    if (flags !== undefined) {
      globals.push(word);
      if (flags.length > 1 && word === flags[0] && at + 1 < typed.length) globals.push(typed[++at] ?? '');
    } else if (names.some((name) => `${name} `.startsWith([...words, word, ''].join(' ')))) words.push(word);
    else break;
  }
  return [...words, ...globals, ...typed.slice(at)];
}
