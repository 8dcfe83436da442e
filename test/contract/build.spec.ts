import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { leastCpuRatio } from '../support/least-cpu.js';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
/** Of the CPU of {@link READ_FILES}: 1 to 1.2 are usual. Loading the compiler alone takes 1.5 of it. */
const MOST_CPU = 1.5;
/** Reads and hashes each file that a build may read or write: the cost of comparing contents on this machine. */
const READ_FILES = `
  const { readdirSync, readFileSync } = require('node:fs');
  const hash = require('node:crypto').createHash('sha256');
  for (const folder of ['src', 'migrations', 'clients', 'docs', 'dist']) {
    for (const entry of readdirSync(${JSON.stringify(REPOSITORY)} + folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) hash.update(readFileSync(entry.parentPath + '/' + entry.name, 'utf8'));
    }
  }
  hash.digest('hex');
`;
const PATIENCE_MS = 120_000;
const OTHER_ACCOUNT = 1_000;
/** The settings of a compilation that takes a moment: most of the time of a real one goes into the types of Node. */
const LEAST = { target: 'ES2024', lib: ['ES5'], module: 'nodenext', types: [], strict: true, skipLibCheck: true };

const PROCESS_TYPE = 'declare const process: { stdout: { write(text: string): void } };\n';

function startBuild(folder: string, ...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(folder, 'tools/build.mjs'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The output of a build, and how it ended. */
async function endOf(build: ChildProcess) {
  let output = '';
  for (const stream of [build.stdout, build.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  const [code] = await once(build, 'close');
  return { code, output };
}

describe('the build (docs/adr/0006)', () => {
  let folder: string;
  /** A built project to copy: a compilation takes many times as long. */
  let builtFolder: string;
  const at = (path: string) => join(folder, path);
  const write = (path: string, text: string) => writeFileSync(at(path), text);
  const linkBundler = () => {
    for (const name of ['rolldown', '@jridgewell'])
      symlinkSync(join(REPOSITORY, 'node_modules', name), at(`node_modules/${name}`));
  };
  const outputOf = (name: string) => readFileSync(at(`dist/src/${name}.js`), 'utf8');
  const build = () => endOf(startBuild(folder));
  const built = async () => expect((await build()).code).toBe(0);
  /** A file that was not written again keeps its time. */
  const writtenAt = (path: string) => statSync(at(path), { bigint: true }).mtimeNs;

  const layOut = () => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-build-'));
    for (const name of ['src', 'migrations', 'node_modules', 'tools']) mkdirSync(at(name));
    for (const name of ['tools/build.mjs', 'tsconfig.build.json']) copyFileSync(join(REPOSITORY, name), at(name));
    mkdirSync(at('src/bootstrap'));
    write('src/bootstrap/engine-options.rules.ts', 'export const engineOptions = (): string[] => [];\n');
    symlinkSync(join(REPOSITORY, 'node_modules/typescript'), at('node_modules/typescript'));
    write('tsconfig.json', JSON.stringify({ compilerOptions: LEAST }));
    write('package.json', '{"type":"module"}');
    write('node_modules/.package-lock.json', '{"packages":{"node_modules/typescript":{"version":"6.0.3"}}}');
    write('src/answer.ts', 'export const answer: number = 41;\n');
    write('src/main.ts', "import { answer } from './answer.js';\nexport const main = answer;\n");
    write('migrations/1-make.ts', 'export const made = true;\n');
  };
  const copyBuilt = () => cpSync(join(builtFolder, 'dist'), at('dist'), { recursive: true });

  beforeAll(async () => {
    layOut();
    await built();
    builtFolder = folder;
  });
  afterAll(() => rmSync(builtFolder, { recursive: true, force: true }));
  beforeEach(layOut);
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it(
    'compiles changed sources, whatever their timestamps, and nothing if nothing changed',
    async () => {
      copyBuilt();
      const first = writtenAt('dist/.tsbuildinfo');
      await built();
      expect(writtenAt('dist/.tsbuildinfo')).toBe(first);

      // An older time than that of the build: as from an archive, or from a machine with another clock.
      write('src/answer.ts', 'export const answer: number = 42;\n');
      utimesSync(at('src/answer.ts'), 1, 1);
      await built();
      expect(outputOf('answer')).toContain('42');
    },
    PATIENCE_MS,
  );

  it(
    'prints what it does and how long that takes; if nothing changed, nothing',
    async () => {
      linkBundler();
      const steps = 'Compiling the service\\.\\.\\.\\nBundling the service\\.\\.\\.';
      expect(await build()).toEqual({
        code: 0,
        output: expect.stringMatching(`^${steps}\\nBuilt in \\d+\\.\\d s\\.\\n$`),
      });
      expect(await build()).toEqual({ code: 0, output: '' });
    },
    PATIENCE_MS,
  );

  it(
    '--run → the program replaces the build process, with its arguments, its environment and its exit code',
    async () => {
      write('program.mjs', 'console.log(process.pid, process.argv.slice(2), process.env.NODE_ENV); process.exit(3);');
      for (const _round of ['builds', 'is up to date']) {
        const started = startBuild(folder, '--run', '--no-warnings', 'program.mjs', '--gw', '--run');
        const { code, output } = await endOf(started);
        expect(code).toBe(3);
        expect(output).toContain(`${started.pid} [ '--gw', '--run' ] ${process.env.NODE_ENV}\n`);
      }
      expect(existsSync(at('dist/src/main.js'))).toBe(true);
    },
    PATIENCE_MS,
  );

  it(
    '--run, and the compilation fails → the program does not run',
    async () => {
      write('program.mjs', "console.log('runs');");
      write('src/answer.ts', "export const answer: number = 'many';\n");
      const { code, output } = await endOf(startBuild(folder, '--run', 'program.mjs'));
      expect(code).not.toBe(0);
      expect(output).toContain('error TS2322');
      expect(output).not.toContain('runs');
    },
    PATIENCE_MS,
  );

  it('a Node below the floor of package.json → says which one is needed, and builds nothing', async () => {
    write('package.json', '{"type":"module","engines":{"node":">=99.1.0"}}');
    const { code, output } = await build();
    expect(code).toBe(1);
    expect(output).toContain(`This is Node ${process.versions.node}; the gateway needs Node 99.1.0 or newer.`);
    expect(existsSync(at('dist'))).toBe(false);
  });

  it(
    'a source that is deleted → its output is deleted; one that is renamed → moved',
    async () => {
      copyBuilt();
      rmSync(at('migrations/1-make.ts'));
      write('migrations/2-make.ts', 'export const made = true;\n');
      await built();
      expect(existsSync(at('dist/migrations/1-make.js'))).toBe(false);
      expect(existsSync(at('dist/migrations/1-make.js.map'))).toBe(false);
      expect(existsSync(at('dist/migrations/2-make.js'))).toBe(true);
    },
    PATIENCE_MS,
  );

  it(
    'a source added during a build → its output exists at the latest after the next build',
    async () => {
      rmSync(at('node_modules/typescript'));
      mkdirSync(at('node_modules/typescript/bin'), { recursive: true });
      write('node_modules/typescript/package.json', '{"name":"typescript"}');
      write(
        'node_modules/typescript/bin/tsc',
        `require('node:fs').writeFileSync('src/late.ts', 'export const late = true;');
         require(${JSON.stringify(join(REPOSITORY, 'node_modules/typescript/bin/tsc'))});`,
      );
      await built();
      await built();
      expect(outputOf('late')).toContain('true');
    },
    PATIENCE_MS,
  );

  it.each([
    ['changed', (path: string) => writeFileSync(path, 'broken')],
    ['cut short', (path: string) => writeFileSync(path, '')],
    ['deleted', (path: string) => rmSync(path)],
  ])(
    'an output that was %s → written again, even if no source changed',
    async (_how, harm) => {
      copyBuilt();
      harm(at('dist/src/answer.js'));
      await built();
      expect(outputOf('answer')).toContain('41');
    },
    PATIENCE_MS,
  );

  it.each([
    ['tsconfig.json', (text: string) => text.replace('ES2024', 'ES2022')],
    ['node_modules/.package-lock.json', (text: string) => text.replace('6.0.3', '6.0.4')],
  ])(
    '%s that changed → compiles again',
    async (path, change) => {
      copyBuilt();
      const first = writtenAt('dist/.build.json');
      const text = readFileSync(at(path), 'utf8');
      expect(change(text)).not.toBe(text);
      write(path, change(text));
      await built();
      expect(writtenAt('dist/.build.json')).not.toBe(first);
    },
    PATIENCE_MS,
  );

  it(
    'bundles the compiled files into one program, again only if it or its sources change',
    async () => {
      linkBundler();
      write(
        'src/main.ts',
        "import { answer } from './answer.js';\n/* a comment */ process.stdout.write('µ' + String(answer));\n",
      );
      write('src/types.d.ts', PROCESS_TYPE);
      const program = at('dist/server/main.js');
      const told = async () => (await endOf(spawn(process.execPath, [program]))).output;
      await built();
      expect(await told()).toBe('µ41');
      expect(readFileSync(program, 'utf8')).not.toMatch(/a comment|µ/);
      const first = writtenAt('dist/server/main.js');
      await built();
      expect(writtenAt('dist/server/main.js')).toBe(first);

      write('dist/server/main.js', 'broken');
      await built();
      expect(await told()).toBe('µ41');
      write('src/answer.ts', 'export const answer: number = 42;\n');
      await built();
      expect(await told()).toBe('µ42');
    },
    PATIENCE_MS,
  );

  it(
    'loads a new bundle once, for the compile cache, and an unchanged one never',
    async () => {
      linkBundler();
      const types =
        'getBuiltinModule(id: string): { appendFileSync(path: string, text: string): void }; argv: string[]';
      write('src/types.d.ts', `declare const process: { ${types} };\n`);
      write('src/main.ts', "process.getBuiltinModule('fs').appendFileSync('loaded', process.argv.slice(2).join());\n");
      await built();
      await built();
      expect(readFileSync(at('loaded'), 'utf8')).toBe('--compile-only');
    },
    PATIENCE_MS,
  );

  (process.getuid?.() === 0 ? it : it.skip)(
    'a new bundle → the compile caches of this account are removed, and those of others stay',
    async () => {
      linkBundler();
      for (const name of ['own', 'foreign']) mkdirSync(at(`dist/.compile-cache/${name}`), { recursive: true });
      chownSync(at('dist/.compile-cache/foreign'), OTHER_ACCOUNT, OTHER_ACCOUNT);
      await built();
      expect(readdirSync(at('dist/.compile-cache'))).toEqual(['foreign']);
    },
    PATIENCE_MS,
  );

  it(
    'this program, loaded with --compile-only → exits without output; the next start finds it compiled',
    async () => {
      cpSync(join(REPOSITORY, 'dist/server'), at('program/dist/server'), { recursive: true });
      symlinkSync(join(REPOSITORY, 'node_modules'), at('program/node_modules'));
      const program = at('program/dist/server/main.js');
      const load = (env: NodeJS.ProcessEnv) => endOf(spawn(process.execPath, [program, '--compile-only'], { env }));
      expect(await load({})).toEqual({ code: 0, output: '' });
      const { output } = await load({ NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
      expect(output).toMatch(/V8 code cache for CommonJS \S+\/parts\/process-\S+ was accepted/);
    },
    PATIENCE_MS,
  );

  it(
    'a stack trace of the bundle → names functions; with its source maps, also lines and columns of the compiled sources',
    async () => {
      linkBundler();
      write(
        'src/main.ts',
        `function failing(text: string): string {
           if (text === 'µµµ') throw new Error(text);
           return text;
         }
         try {
           failing('µµµ');
         } catch (error) {
           process.stdout.write(String((error as { stack: string }).stack));
         }
         export {};`,
      );
      write('src/types.d.ts', PROCESS_TYPE);
      await built();
      const compiled = readFileSync(at('dist/src/main.js'), 'utf8').split('\n');
      const line = compiled.findIndex((text) => text.includes('throw new Error'));
      const column = (compiled[line] ?? '').indexOf('Error(');
      const program = at('dist/server/main.js');
      expect((await endOf(spawn(process.execPath, [program]))).output).toContain('at failing (');
      const traced = await endOf(spawn(process.execPath, ['--enable-source-maps', program]));
      expect(traced.output).toContain(`${at('dist/src/main.js')}:${line + 1}:${column + 1}`);
    },
    PATIENCE_MS,
  );

  it(
    'an error → fails, keeps the previous build, and fails again until it is fixed',
    async () => {
      copyBuilt();
      write('src/answer.ts', "export const answer: number = 'many';\n");
      for (let times = 0; times < 2; times += 1) {
        const failed = await build();
        expect(failed.code).not.toBe(0);
        expect(failed.output).toContain('src/answer.ts(1,14): error TS2322');
      }
      expect(outputOf('answer')).toContain('41');
      write('src/answer.ts', 'export const answer: number = 43;\n');
      await built();
      expect(outputOf('answer')).toContain('43');
    },
    PATIENCE_MS,
  );

  it(
    'a build that is killed at any moment → the next one completes it',
    async () => {
      for (const afterMs of [60, 200, 400, 700]) {
        const killed = startBuild(folder);
        setTimeout(() => killed.kill('SIGKILL'), afterMs);
        await endOf(killed);
      }
      await built();
      expect(outputOf('answer')).toContain('41');
      expect(outputOf('main')).toContain('./answer.js');
    },
    PATIENCE_MS,
  );

  it(
    'four builds at once → all succeed, and nothing is left to do',
    async () => {
      const ends = await Promise.all([1, 2, 3, 4].map(() => build()));
      expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
      const stamp = writtenAt('dist/.build.json');
      await built();
      expect(writtenAt('dist/.build.json')).toBe(stamp);
    },
    PATIENCE_MS,
  );

  it(
    'this repository, unchanged → little more CPU than reading the files',
    async () => {
      expect((await endOf(startBuild(REPOSITORY))).code).toBe(0);
      expect(leastCpuRatio([join(REPOSITORY, 'tools/build.mjs')], ['-e', READ_FILES], MOST_CPU)).toBeLessThan(MOST_CPU);
    },
    PATIENCE_MS,
  );
});
