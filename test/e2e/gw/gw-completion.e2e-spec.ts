import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PROGRAM, PtySession } from '../../support/gw/pty.js';

const PATIENCE_MS = 60_000;
const KEPT = 'what must not be lost';
const [START_OF_LINE, END_OF_LINE, CLEAR_LINE] = ['\x01', '\x05', '\x15'];

interface TestedShell {
  readonly name: string;
  readonly options: readonly string[];
  /** Typed first. */
  readonly setUp: string;
}

/** None reads settings of the machine; bash then has no bash-completion. */
const SHELLS: readonly TestedShell[] = [
  {
    name: 'bash',
    options: ['--norc', '--noprofile', '-i'],
    setUp: 'source <(gw completion bash)',
  },
  {
    name: 'zsh',
    options: ['-f', '-i'],
    setUp: 'autoload -Uz compinit; compinit -D; bindkey -e; source <(gw completion zsh)',
  },
  { name: 'fish', options: ['--no-config', '-i'], setUp: 'gw completion fish | source' },
];

let folder: string;
let shell: PtySession;
let lines: number;

describe.each(SHELLS)('completion in $name (skipped where it is not installed)', ({ name, options, setUp }) => {
  const isInstalled = spawnSync(name, ['--version']).status === 0;
  const test = isInstalled ? it : it.skip;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gw-completion-'));
    if (!isInstalled) return;
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/gw'), `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
    chmodSync(join(folder, 'bin/gw'), 0o755);
    mkdirSync(join(folder, 'work/four rooms'), { recursive: true });
    writeFileSync(join(folder, 'work/four.txt'), '');
    writeFileSync(join(folder, 'work/my file.yaml'), KEPT);
    const PATH = `${join(folder, 'bin')}${delimiter}${process.env.PATH}`;
    const env = { PATH, HOME: folder, TERM: 'dumb', GW_HOME: folder };
    shell = new PtySession(options, join(folder, 'work'), env, [name]);
    lines = 0;
    await enter(setUp);
  });

  afterEach(async () => {
    if (isInstalled) {
      shell.close();
      await shell.ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  /** Types a line, and waits until the shell has run it. */
  async function enter(line: string): Promise<void> {
    lines += 1;
    shell.type(`${line}\r`);
    // What is typed is on the screen too, but not the sum.
    shell.type(`echo sum-$((1000 + ${lines}))\r`);
    await shell.shows(`sum-${1000 + lines}`);
  }

  /** The words that a line has once TAB was pressed at its end. */
  async function completed(line: string): Promise<string[]> {
    const before = shell.screen.length;
    shell.type(`${line}\t`);
    await enter(`${START_OF_LINE}printf '<%s>\\n' ${END_OF_LINE}`);
    return [...shell.screen.slice(before).matchAll(/^<(.*)>\r?$/gm)].map(([, word = '']) => word);
  }

  test.each([
    ['gw app ad', ['gw', 'app', 'add']],
    ['gw app add --st', ['gw', 'app', 'add', '--status']],
    ['gw app add --status dis', ['gw', 'app', 'add', '--status', 'disabled']],
    ['gw app add --status=dis', ['gw', 'app', 'add', '--status=disabled']],
    ['gw app add --file my', ['gw', 'app', 'add', '--file', 'my file.yaml']],
    ['gw app add --file=my', ['gw', 'app', 'add', '--file=my file.yaml']],
    ['gw app add --file "my', ['gw', 'app', 'add', '--file', 'my file.yaml']],
    ['gw plan fo', ['gw', 'plan', 'four rooms/']],
    ['gw app show my', ['gw', 'app', 'show', 'my']],
  ])(
    '%s → %j',
    async (line, words) => {
      expect(await completed(line)).toEqual(words);
    },
    PATIENCE_MS,
  );

  test.each([
    "gw app list > 'my file.yaml' ",
    "gw app list >'my file.yaml' --",
    'gw app show $(touch made) ',
    'gw app show "$(touch made)" --',
    'gw app show `touch made` ',
    'gw app show <(touch made) ',
    'gw app show a; touch made; gw app ',
    'gw app show $((x=$(touch made))) ',
  ])(
    '%s → nothing on the line is executed',
    async (line) => {
      shell.type(`${line}\t\t`);
      await enter(CLEAR_LINE);
      expect(readFileSync(join(folder, 'work/my file.yaml'), 'utf8')).toBe(KEPT);
      expect(existsSync(join(folder, 'work/made'))).toBe(false);
    },
    PATIENCE_MS,
  );
});
