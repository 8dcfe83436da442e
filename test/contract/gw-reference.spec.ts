import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
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

const AS_OLD = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.18.0"}})`;
/** The Node 20 of this machine, if it has one. */
const oldest = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((node) => existsSync(node) && /^v20\./.test(spawnSync(node, ['-v'], { encoding: 'utf8' }).stdout));

describe('published files of gw', () => {
  it('docs/cli.md and docs/schemas/gw.schema.json → the output of the program', () => {
    const { status, stderr } = run([join(ROOT, 'dist/gw/reference.js'), '--check']);
    expect([status, stderr]).toEqual([0, '']);
  });

  it.each(['gw', 'app', 'providers', 'environment'].map((name) => `${name}.schema.json`))(
    '%s → a valid schema',
    (name) => {
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      expect(ajv.validateSchema(schemaOf(name))).toBe(true);
      expect(() => ajv.compile(schemaOf(name))).not.toThrow();
    },
  );

  it('gw --help → within its CPU limit, in multiples of an empty program on the same machine', () => {
    expect(leastCpuRatio([PROGRAM, '--help'], ['-e', '0'], MOST_HELP)).toBeLessThan(MOST_HELP);
  });

  it('completion in bash → the script is accepted, and offers the program’s commands', () => {
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

describe('Node versions of gw', () => {
  it('a version that is too old → one sentence with both versions, exit 2', () => {
    const { status, stdout, stderr } = run(['--import', AS_OLD, PROGRAM, 'app', 'list']);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toBe('gw needs Node 20.19.0 or newer; this is Node 20.18.0.\n');
  });

  it('docs/cli.md and the package → the same version', () => {
    expect(readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')).toContain('needs Node 20.19.0 or newer');
  });

  (oldest === undefined ? it.skip : it)('Node 20 on the PATH → runs every part that is loaded', () => {
    const home = mkdtempSync(join(tmpdir(), 'gw-node20-'));
    const options = {
      encoding: 'utf8',
      env: { HOME: home, XDG_STATE_HOME: home, GW_URL: 'http://127.0.0.1:9' },
    } as const;
    const lines = ['--help', 'completion bash', 'profile list', 'doctor --json', 'account login --no-input', 'plan .'];
    const ended = lines.map((line) => spawnSync(oldest ?? '', [PROGRAM, ...line.split(' ')], options));
    expect(ended.map(({ status }) => status)).toEqual([0, 0, 0, 3, 3, 2]);
    for (const { stderr } of ended) expect(stderr).not.toMatch(/is not a function|unexpected_error/);
    rmSync(home, { recursive: true });
  });

  it('no file uses an API newer than that version', () => {
    const folder = join(ROOT, 'dist/gw');
    const newer =
      /\b(?:Promise\.withResolvers|Promise\.try|URL\.parse|Object\.groupBy|Map\.groupBy|Array\.fromAsync|RegExp\.escape)\b/;
    const texts = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);
    expect(texts.filter(([, text]) => newer.test(text)).map(([name]) => name)).toEqual([]);
  });
});

describe('npm run pack:gw', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gw-packed-'));
    const packed = run([join(ROOT, 'clients/gw/reference/pack.mjs')]);
    expect([packed.status, packed.stdout.split('\n')]).toEqual([
      ...[0, [`dist/gw-${version}.mjs`, `dist/gw-${version}.tgz`, 'dist/SHA256SUMS', '']],
    ]);
    execFileSync('tar', ['-xzf', join(ROOT, `dist/gw-${version}.tgz`), '-C', folder]);
    copyFileSync(join(ROOT, `dist/gw-${version}.mjs`), join(folder, 'gw.mjs'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('→ the program and its dependencies, and nothing from the service', () => {
    const files = readdirSync(join(folder, 'package'));
    expect(files).toEqual(expect.arrayContaining(['README.md', 'gw.js', 'package.json']));
    expect(files.filter((name) => !/^[\w-]+\.js$|^README\.md$|^package\.json$/.test(name))).toEqual([]);
    const { dependencies, bin, engines } = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8'));
    expect([dependencies, bin]).toEqual([undefined, { gw: 'gw.js' }]);
    expect(engines).toEqual({ node: '>=20.19.0' });
  });

  it('→ a name that nobody else can publish, in a package that npm refuses to publish', () => {
    const { name, private: isPrivate } = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8'));
    expect([name, isPrivate]).toEqual(['@gateway.local/gw', true]);
  });

  it('→ checksums of both, in the format of sha256sum --check', () => {
    const lines = [`gw-${version}.mjs`, `gw-${version}.tgz`].map((name) => {
      const hash = createHash('sha256').update(readFileSync(join(ROOT, 'dist', name)));
      return `${hash.digest('hex')}  ${name}\n`;
    });
    expect(readFileSync(join(ROOT, 'dist/SHA256SUMS'), 'utf8')).toBe(lines.join(''));
  });

  it.each(['package/gw.js', 'gw.mjs'])('%s → runs without any package beside it', (path) => {
    const gw = join(folder, path);
    const options = { env: { HOME: folder, XDG_STATE_HOME: folder }, cwd: folder };
    expect(run([gw, '--version'], options).stdout).toBe(`${version}\n`);
    writeFileSync(join(folder, 'app.json'), '{"name": 7}');
    const { stdout, status } = run([gw, 'app', 'validate', '--file', 'app.json', '--json'], options);
    expect([status, JSON.parse(stdout).error.code]).toEqual([2, 'invalid_file']);
  });

  it('gw.mjs on a Node that is too old → one sentence', () => {
    const { status, stderr } = run(['--import', AS_OLD, join(folder, 'gw.mjs'), 'app', 'list']);
    expect([status, stderr]).toEqual([2, 'gw needs Node 20.19.0 or newer; this is Node 20.18.0.\n']);
  });

  (oldest === undefined ? it.skip : it)('gw.mjs on Node 20 → runs', () => {
    const options = {
      env: { HOME: folder, XDG_STATE_HOME: folder, GW_URL: 'http://127.0.0.1:9' },
      encoding: 'utf8',
    } as const;
    const ended = spawnSync(oldest ?? '', [join(folder, 'gw.mjs'), 'doctor', '--json'], options);
    expect([ended.status, JSON.parse(ended.stdout).error.code]).toEqual([3, 'unhealthy']);
  });
});

it('documents and help → do not name a registry package for npx to fetch', () => {
  const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  const texts = ['README.md', ...documents].map((name) => readFileSync(join(ROOT, name), 'utf8'));
  expect([...texts, run([PROGRAM, '--help']).stdout].filter((text) => /npx (?:-\S+ )*gw\b/.test(text))).toEqual([]);
});
