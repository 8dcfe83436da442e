import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const CHECK = fileURLToPath(new URL('../../tools/check.mjs', import.meta.url));

describe('npm run check', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-check-'));
    mkdirSync(join(folder, 'tools'));
    copyFileSync(CHECK, join(folder, 'tools/check.mjs'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function check(scripts: Readonly<Record<string, string>>) {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts }));
    const { status, stdout } = spawnSync(process.execPath, [join(folder, 'tools/check.mjs')], { encoding: 'utf8' });
    return { status, stdout };
  }

  it('every part holds → a line for each, none of their output, exit code 0', () => {
    const { status, stdout } = check({ 'check:one': 'echo noise', 'check:two': 'echo noise', start: 'exit 1' });
    expect(status).toBe(0);
    expect(stdout.split('\n').sort()).toEqual([
      '',
      expect.stringMatching(/^check:one: passed in \d+\.\d s$/),
      expect.stringMatching(/^check:two: passed in \d+\.\d s$/),
    ]);
  });

  it('parts fail → all are told, those with their output, exit code 1', () => {
    const fails = (name: string) => `echo ${name} begins && echo ${name} ends >&2 && exit 7`;
    const { status, stdout } = check({ 'check:a': fails('a'), 'check:b': 'exit 0', 'check:c': fails('c') });
    expect(status).toBe(1);
    expect(stdout).toMatch(/a begins\na ends\n\ncheck:a: FAILED/);
    expect(stdout).toMatch(/check:b: passed/);
    expect(stdout).toMatch(/c begins\nc ends\n\ncheck:c: FAILED/);
  });
});
