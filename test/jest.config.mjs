import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const rootDir = fileURLToPath(new URL('..', import.meta.url));

const swc = [
  '@swc/jest',
  {
    swcrc: false,
    module: { type: 'es6' },
    jsc: {
      target: 'es2024',
      keepClassNames: true,
      parser: { syntax: 'typescript', decorators: true, dynamicImport: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    },
  },
];

const native = '<rootDir>/test/support/jest/native-modules.mjs';
const { dependencies, devDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
/**
 * What suites may import and Node loads once for each worker. Not Jest itself, and not what compares constructors of
 * objects that a suite hands it.
 */
const packages = Object.keys({ ...dependencies, ...devDependencies }).filter(
  (name) => !/jest|swc|oidc-provider|cbor2/.test(name),
);
/** Unit suites run schedules on timers of their own. */
const packagesOfUnits = packages.filter((name) => name !== '@nestjs/schedule');
const nativePackages = (names) => ({ [`/node_modules/(?:${names.join('|')})/.+\\.[cm]?js$`]: native });

const shared = {
  rootDir,
  testEnvironment: '<rootDir>/test/support/jest/native-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { ...nativePackages(packagesOfUnits), '^.+\\.ts$': swc },
  transformIgnorePatterns: [],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};

/** Where suites are looked for: Jest lists all files below, and node_modules and dist have thousands. */
const foldersOf = (names) => names.map((name) => `<rootDir>/${name}`);
const UNIT_FOLDERS = ['src', 'tools', 'clients'];

/** Runs once, and only when a chosen project names it: unit tests start no database. */
const withDatabase = {
  ...shared,
  roots: foldersOf(['test']),
  testEnvironmentOptions: { hasDatabase: true },
  transform: {
    '/src/.+\\.ts$': native,
    '/test/support/(?:openapi/openapi-check|platform/database)\\.ts$': native,
    ...nativePackages(packages),
    '^.+\\.ts$': swc,
  },
  globalSetup: '<rootDir>/test/support/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.mjs',
};

/**
 * More than the cores of a small machine: suites wait about as long as they work, for timers, processes and Postgres,
 * whose connections they share.
 */
const WORKERS = 3;

/**
 * How long a process may take to end once its last suite is done. With hundreds of megabytes of module registries and
 * nothing left open, V8 alone can need more than the half second that is usual. A process that leaves something open
 * never ends by itself, and is still reported.
 */
const EXIT_PATIENCE_MS = 5_000;

/** The timeout of a test. A busy machine takes many times as long to wait for processes. */
const GIVE_UP_MS = 120_000;

/** A million inputs of one parser take minutes. */
const FUZZ_TIMEOUT_MS = 4 * 60 * 60 * 1_000;

/**
 * Three sizes: rules beside their source, the whole service over HTTP, and promises the code makes about itself. Suites
 * with promised times of the whole service have the machine to themselves: a run of its own, after the others.
 */
export default {
  rootDir,
  // Every suite leaves a module registry behind. A process that has grown is replaced, before it runs out of memory.
  workerIdleMemoryLimit: '1GB',
  workerGracefulExitTimeout: EXIT_PATIENCE_MS,
  maxWorkers: WORKERS,
  testSequencer: '<rootDir>/test/support/jest/units-last.mjs',
  reporters: ['default', '<rootDir>/test/support/jest/skipped-suites.mjs'],
  testTimeout: process.env.FUZZ_RUNS ? FUZZ_TIMEOUT_MS : GIVE_UP_MS,
  projects: [
    {
      ...shared,
      displayName: 'unit',
      setupFiles: ['<rootDir>/test/support/jest/fuzz-settings.mjs'],
      roots: foldersOf(UNIT_FOLDERS),
      testMatch: foldersOf(UNIT_FOLDERS).map((folder) => `${folder}/**/*.spec.ts`),
    },
    { ...withDatabase, displayName: 'e2e', testMatch: ['<rootDir>/test/e2e/**/*.e2e-spec.ts'] },
    { ...withDatabase, displayName: 'contract', testMatch: ['<rootDir>/test/contract/**/*.spec.ts'] },
    { ...withDatabase, displayName: 'alone', testMatch: ['<rootDir>/test/alone/**/*.alone-spec.ts'] },
  ],
};
