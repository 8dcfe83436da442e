import { type Command, STEP } from '../program/command.js';

const OPERATION = [['<operation>', 'id that a command with --browser printed']] as const;

/** Commands for operations that a person finishes in a browser. */
export const operationCommands: readonly Command[] = [
  {
    name: 'operation status',
    summary: 'Show the state of an operation',
    arguments: OPERATION,
    examples: ['gw operation status "$OPERATION"'],
    result: STEP,
    load: async () => (await import('./operations.js')).status,
  },
  {
    name: 'operation wait',
    summary: 'Wait until an operation ends',
    details: 'Exit code 5: still pending after the timeout.',
    arguments: OPERATION,
    options: [['--timeout <seconds>', 'how long to wait; no limit by default']],
    examples: ['gw operation wait "$OPERATION" --timeout 60'],
    result: STEP,
    load: async () => (await import('./operations.js')).wait,
  },
];
