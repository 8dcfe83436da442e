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

  function check(checks: Readonly<Record<string, string>>, ...names: readonly string[]) {
    writeFileSync(join(folder, 'tools/checks.json'), JSON.stringify(checks));
    const args = [join(folder, 'tools/check.mjs'), ...names];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return { status, stdout, stderr };
  }

  it('every part passes → one line each, without their output, exit code 0', () => {
    const { status, stdout } = check({ one: 'echo noise', two: 'echo noise' });
    expect(status).toBe(0);
    expect(stdout.split('\n').sort()).toEqual([
      '',
      expect.stringMatching(/^one: passed in \d+\.\d s$/),
      expect.stringMatching(/^two: passed in \d+\.\d s$/),
    ]);
  });

  it('parts fail → all are reported, the failed ones with their output, exit code 1', () => {
    const fails = (name: string) => `echo ${name} begins && echo ${name} ends >&2 && exit 7`;
    const { status, stdout } = check({ a: fails('a'), b: 'exit 0', c: fails('c') });
    expect(status).toBe(1);
    expect(stdout).toMatch(/a begins\na ends\n\na: FAILED/);
    expect(stdout).toMatch(/b: passed/);
    expect(stdout).toMatch(/c begins\nc ends\n\nc: FAILED/);
  });

  it('parts that are named → only those', () => {
    const { status, stdout } = check({ one: 'exit 1', two: 'exit 0' }, 'two');
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^two: passed in \d+\.\d s\n$/) });
  });

  it('a part that is unknown → lists the known parts, exit code 1', () => {
    const { status, stdout, stderr } = check({ one: 'exit 0' }, 'tow');
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Unknown check: tow. Choose of one.\n',
    });
  });
});
