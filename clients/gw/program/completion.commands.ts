import { type Command, members } from './command.js';

/** The command that sets up a shell. */
export const completionCommands: readonly Command[] = [
  {
    name: 'completion',
    summary: 'Print a script that completes gw in a shell',
    details: 'For bash and zsh: source <(gw completion bash). For fish: gw completion fish | source.',
    arguments: [['<shell>', 'the shell', ['bash', 'zsh', 'fish']]],
    examples: ['gw completion bash', 'gw completion zsh', 'gw completion fish'],
    result: members({ shell: { enum: ['bash', 'zsh', 'fish'] }, script: { type: 'string' } }),
    load: async () => (await import('./completion.js')).completion,
  },
];
