import { expect, it } from '@jest/globals';
import { withGlobalsLast } from './global-options.js';

const NAMES = ['app list', 'app key list', 'plan'];

it.each([
  ['--json app list', 'app list --json'],
  ['--profile one app --no-input list --query x', 'app list --profile one --no-input --query x'],
  ['--profile=one --json plan folder', 'plan --profile=one --json folder'],
  ['app list --query --json', 'app list --query --json'],
  ['app key list notes --json', 'app key list notes --json'],
  ['--json', '--json'],
  ['app --profile', 'app --profile'],
  ['--version', '--version'],
  ['--json nothing', '--json nothing'],
])('%s → %s', (typed, line) => {
  expect(withGlobalsLast(typed.split(' '), NAMES)).toEqual(line.split(' '));
});
