/** Options of every command. */
export const GLOBAL_OPTIONS = [
  ['--json', 'print one JSON document on standard output, also for errors'],
  ['--no-input', 'never prompt; fail if input is needed'],
  ['--profile <name>', 'the saved deployment to use (GW_PROFILE, else the current one)'],
] as const satisfies readonly (readonly [flags: string, meaning: string])[];
