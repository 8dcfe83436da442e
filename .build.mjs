/**
 * Compiles `src` and `migrations` into `dist` if what is there is not their compilation: `npm run build`, and the first
 * step of every script that runs `dist`. docs/adr/0040-builds-compare-contents.md says why it compares contents.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const SOURCE_FOLDERS = ['src', 'migrations'];
const OUTPUT_FOLDER = 'dist';
const SETTINGS = 'tsconfig.build.json';
/** Settings of the compilation, and the packages whose types it reads: the second lists what npm really installed. */
const OTHER_INPUTS = ['.build.mjs', 'package.json', 'tsconfig.json', SETTINGS, 'node_modules/.package-lock.json'];
/** What the last successful build read and wrote. Written last. */
const STAMP = join(OUTPUT_FOLDER, '.build.json');
const COMPILER_STATE = join(OUTPUT_FOLDER, '.tsbuildinfo');
const LOCK = join(OUTPUT_FOLDER, '.build.lock');
const LONGEST_WAIT_MS = 10 * 60 * 1000;

process.chdir(import.meta.dirname);

const sourceFiles = () => SOURCE_FOLDERS.flatMap(filesUnder).filter((path) => !path.endsWith('.spec.ts'));

const outputFiles = () => SOURCE_FOLDERS.flatMap((folder) => filesUnder(join(OUTPUT_FOLDER, folder)));

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort();
}

/** Names count as well as contents, so that a file that is added, deleted or renamed is seen. */
function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths) {
    const content = contentOf(path);
    hash.update(`${path}\0${content?.length}\0`).update(content ?? '');
  }
  return hash.digest('hex');
}

/** A file may go away while it is looked at: another build removes outputs, a checkout removes sources. */
function contentOf(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(STAMP, 'utf8'));
  } catch {
    return {};
  }
}

const isUpToDate = () => {
  const stamp = readStamp();
  return stamp.inputs === inputsHash() && stamp.outputs === hashOf(outputFiles());
};

const inputsHash = () => hashOf([...OTHER_INPUTS, ...sourceFiles()]);

/** Node has no file lock. A transaction on a SQLite file is one, and ends with the process, however that ends. */
async function holdLock() {
  const { DatabaseSync } = await import('node:sqlite');
  mkdirSync(OUTPUT_FOLDER, { recursive: true });
  const lock = new DatabaseSync(LOCK);
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch {
    process.stderr.write('Another build is running; waiting for it.\n');
    lock.exec(`PRAGMA busy_timeout = ${LONGEST_WAIT_MS}; BEGIN EXCLUSIVE`);
  }
  return lock;
}

/** Ends the process, with the compiler's exit code. A failed compilation writes nothing. */
async function build() {
  const stamp = readStamp();
  const isKnown = stamp.outputs === hashOf(outputFiles()) && stamp.compilerState === hashOf([COMPILER_STATE]);
  // The compiler believes its own notes of what it wrote: they go where something else has written since.
  if (!isKnown) rmSync(COMPILER_STATE, { force: true });
  const inputs = inputsHash();
  const sources = sourceFiles();
  process.once('exit', (code) => {
    if (code === 0) complete(inputs, sources);
  });
  // In this process and not in a child, which would go on writing without the lock if this process were killed.
  process.argv.splice(1, Number.POSITIVE_INFINITY, 'tsc', '-p', SETTINGS);
  await import('typescript/bin/tsc');
}

function complete(inputs, sources) {
  removeOrphans(sources);
  const compilerState = hashOf([COMPILER_STATE]);
  writeFileSync(`${STAMP}.new`, JSON.stringify({ inputs, outputs: hashOf(outputFiles()), compilerState }));
  renameSync(`${STAMP}.new`, STAMP);
}

/** The compiler leaves the output of a deleted source where it is. */
function removeOrphans(sources) {
  const expected = new Set(sources.map((path) => join(OUTPUT_FOLDER, path.replace(/\.ts$/, '.js'))));
  for (const path of outputFiles()) {
    if (!expected.has(path.replace(/\.map$/, ''))) rmSync(path);
  }
}

if (!isUpToDate()) {
  const lock = await holdLock();
  if (!isUpToDate()) await build();
  lock.close();
}
