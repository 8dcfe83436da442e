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

const shared = {
  rootDir,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': swc },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
};

/** Runs once, and only when a chosen project names it: unit tests start no database. */
const withDatabase = {
  ...shared,
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

/** Three sizes: rules beside their source, the whole service over HTTP, and promises the code makes about itself. */
export default {
  rootDir,
  // Every suite leaves a module registry behind. A process that has grown is replaced, before it runs out of memory.
  workerIdleMemoryLimit: '1GB',
  testTimeout: 30_000,
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/bench/**/*.spec.ts'] },
    { ...withDatabase, displayName: 'e2e', testMatch: ['<rootDir>/test/e2e/**/*.e2e-spec.ts'] },
    { ...withDatabase, displayName: 'contract', testMatch: ['<rootDir>/test/contract/**/*.spec.ts'] },
  ],
};
