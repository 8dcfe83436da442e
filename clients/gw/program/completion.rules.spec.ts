import { describe, expect, it } from '@jest/globals';
import type { Command } from './command.js';
import { completionOf } from './completion.rules.js';

const command = (name: string, more: Partial<Command> = {}): Command => ({
  ...{ name, summary: `does ${name}`, examples: [], result: {} },
  load: () => Promise.reject(new Error('not loaded')),
  ...more,
});

const COMMANDS = [
  command('app list'),
  command('app key create', { arguments: [['<app>', 'an application']] }),
  command('app create', {
    options: [
      ['--file <file>', 'a file'],
      ['--status <status>', 'a state', ['active', 'disabled']],
      ['--yes', 'do not ask'],
    ],
  }),
  command('plan', { arguments: [['[directory]', 'a folder']], options: [['--check', 'exit 1']] }),
  command('completion', { arguments: [['<shell>', 'a shell', ['bash', 'zsh']]] }),
];
const GROUPS = { app: 'Applications', 'app key': 'Keys' };

const of = (...words: string[]) => {
  const { choices, paths } = completionOf(words, COMMANDS, GROUPS);
  return [choices.map(([value]) => value), paths];
};

describe('completionOf', () => {
  it.each([
    [[''], ['app', 'plan', 'completion']],
    [['ap'], ['app']],
    [
      ['app', ''],
      ['list', 'key', 'create'],
    ],
    [['app', 'key', ''], ['create']],
    [['--json', 'app', 'li'], ['list']],
    [['--profile', 'app', 'app', 'li'], ['list']],
    [['completion', 'z'], ['zsh']],
    [['completion', '"z'], ['zsh']],
    [['completion', 'zsh', ''], []],
    [['app', 'key', 'create', ''], []],
    [['nothing', ''], []],
    [['nothing', '--'], []],
    [
      ['app', 'create', '--'],
      ['--file', '--status', '--yes', '--json', '--no-input', '--profile'],
    ],
    [
      ['app', 'create', '--status', ''],
      ['active', 'disabled'],
    ],
    [['app', 'create', '--status', 'dis'], ['disabled']],
    [['app', 'create', '--status=dis'], ['disabled']],
    [['app', 'create', '--yes', '--st'], ['--status']],
    [['app', 'create', '--unknown='], []],
    [['app', '>', 'file', 'li'], ['list']],
    [['app', '2>>', 'file', 'li'], ['list']],
    [['app', 'list', '$(touch x)', ''], []],
  ])('%j → %j', (words, choices) => {
    expect(of(...words)).toEqual([choices, 'none']);
  });

  it.each([
    [['app', 'create', '--file', ''], 'files'],
    [['app', 'create', '--file=a b'], 'files'],
    [['app', 'list', '>', ''], 'files'],
    [['app', 'list', '2>', 'f'], 'files'],
    [['plan', ''], 'folders'],
    [['plan', '--check', 'fo'], 'folders'],
    [['plan', 'folder', ''], 'none'],
  ])('%j → %s', (words, paths) => {
    expect(of(...words)).toEqual([[], paths]);
  });

  it('words → described by the summary of the group or the command', () => {
    expect(completionOf(['app', ''], COMMANDS, GROUPS).choices).toEqual([
      ['list', 'does app list'],
      ['key', 'Keys'],
      ['create', 'does app create'],
    ]);
  });
});
