import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { leastCpuRatio } from '../support/least-cpu.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PROGRAM = join(ROOT, 'dist/gw/gw.js');
/** Of the CPU of an empty program: 1.8 are usual, 72 ms where that takes 40. */
const MOST_HELP = 2.5;
const run = (words: readonly string[], options: object = {}) =>
  spawnSync(process.execPath, words, { encoding: 'utf8', ...options });
const schemaOf = (name: string) => JSON.parse(readFileSync(join(ROOT, 'docs/schemas', name), 'utf8'));

describe('what is published of gw', () => {
  it('docs/cli.md and docs/schemas/gw.schema.json → what the program says', () => {
    const { status, stderr } = run([join(ROOT, 'dist/gw/reference.js'), '--check']);
    expect([status, stderr]).toEqual([0, '']);
  });

  it.each(['gw.schema.json', 'app.schema.json', 'providers.schema.json'])('%s → a valid schema', (name) => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    expect(ajv.validateSchema(schemaOf(name))).toBe(true);
    expect(() => ajv.compile(schemaOf(name))).not.toThrow();
  });

  it('gw --help → within its CPU, in that of an empty program on the same machine', () => {
    expect(leastCpuRatio([PROGRAM, '--help'], ['-e', '0'], MOST_HELP)).toBeLessThan(MOST_HELP);
  });

  it('completion in bash → the script is accepted, and offers what the program knows', () => {
    const script = run([PROGRAM, 'completion', 'bash']).stdout;
    const { stdout } = spawnSync('/bin/bash', ['-c', `${script}\ncomplete -p gw`], { encoding: 'utf8' });
    expect(stdout).toContain('gw');
    expect(run([PROGRAM, 'complete', '--', 'provider', 'update', 'x', '--status', '']).stdout).toBe(
      'active\t\ndisabled\t\n:none\n',
    );
    expect(run([PROGRAM, 'complete', '--', 'app', 'k']).stdout).toMatch(/^key\t/);
  });

  it.each(['zsh', 'fish'])('completion %s → a script that asks gw', (shell) => {
    expect(run([PROGRAM, 'completion', shell]).stdout).toContain('gw complete --');
  });
});

describe('npm run pack:gw', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gw-packed-'));
    const packed = run([join(ROOT, 'clients/gw/reference/pack.mjs')]);
    expect(packed.status).toBe(0);
    execFileSync('tar', ['-xzf', join(ROOT, packed.stdout.trim()), '-C', folder]);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('→ the program and what it needs, and nothing of the service', () => {
    const files = readdirSync(join(folder, 'package'));
    expect(files).toEqual(expect.arrayContaining(['README.md', 'gw.js', 'package.json']));
    expect(files.filter((name) => !/^[\w-]+\.js$|^README\.md$|^package\.json$/.test(name))).toEqual([]);
    const { dependencies, bin } = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8'));
    expect([dependencies, bin]).toEqual([undefined, { gw: 'gw.js' }]);
  });

  it('→ runs without any package beside it', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const gw = join(folder, 'package/gw.js');
    const options = { env: { HOME: folder, XDG_STATE_HOME: folder }, cwd: folder };
    expect(run([gw, '--version'], options).stdout).toBe(`${version}\n`);
    writeFileSync(join(folder, 'app.json'), '{"name": 7}');
    const { stdout, status } = run([gw, 'app', 'validate', '--file', 'app.json', '--json'], options);
    expect([status, JSON.parse(stdout).error.code]).toEqual([2, 'invalid_file']);
  });
});
