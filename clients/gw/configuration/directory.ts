import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { Failure } from '../program/failure.js';
import {
  APPS_FOLDER,
  type DesiredApp,
  type DesiredProvider,
  ENVIRONMENTS_FOLDER,
  PROVIDERS_FILE,
} from './configuration-files.js';
import { appFrom, providerFrom } from './desired.js';
import { ENVIRONMENT, type EnvironmentFile, environmentIn } from './environment-file.js';
import { isTable, merged, reaches, Variables } from './layers.rules.js';
import { Members, type PlaceOf, tableAt } from './members.js';
import { invalid, Problems } from './problems.js';
import { parseYaml, type YamlContent } from './yaml-file.js';

const YAML = /\.ya?ml$/;
const MAX_BYTES = 1_048_576;

/** A part of a file, with its place. */
export interface Placed<T> {
  readonly at: PlaceOf;
  readonly desired: T;
}

/** The content of a directory. */
export interface Directory {
  readonly apps: readonly Placed<DesiredApp>[];
  /** Undefined without the file: the directory owns no providers. */
  readonly providers: readonly Placed<DesiredProvider>[] | undefined;
  /** Undefined where the directory has none. */
  readonly environment: EnvironmentFile | undefined;
}

type Inspect = (read: Readable, problems: Problems) => void;

/** The readable parts of a directory, even if others could not be read. */
export interface Readable {
  readonly apps: Directory['apps'];
  readonly providers: NonNullable<Directory['providers']>;
}

/** The environments that a directory has. @throws Failure it is not a directory. */
export function environmentsOf(path: string): readonly string[] {
  const root = realRoot(path);
  return yamlFilesIn(root, ENVIRONMENTS_FOLDER).map((name) => name.replace(YAML, ''));
}

/**
 * Reads a directory in one environment.
 *
 * @param inspect finds further problems in the readable parts.
 * @throws Failure it is none, holds nothing, has no such environment, or a file is not what it must be.
 */
export function readDirectory(path: string, environment?: string, inspect: Inspect = () => undefined): Directory {
  const root = realRoot(path);
  const problems = new Problems();
  const chosen = chosenIn(path, root, environment, problems);
  const layer = new Layer(environment === undefined ? 'none' : (chosen ?? 'unreadable'), problems);
  const hasProviders = existsSync(join(root, PROVIDERS_FILE));
  const providers = hasProviders ? (problems.collect(() => providersIn(root, layer, problems)) ?? []) : undefined;
  const names = yamlFilesIn(root, APPS_FOLDER);
  const apps = names.flatMap((name) => problems.collect(() => appIn(root, `${APPS_FOLDER}/${name}`, layer)) ?? []);
  if (names.length === 0 && providers === undefined) {
    throw Failure.input('directory_empty', `${path} holds no configuration.`, {
      nextAction: `Write one: gw export ${path}`,
    });
  }
  requireDistinct(apps, ({ handle }) => handle, 'handle', problems);
  requireDistinct(providers ?? [], ({ slug }) => slug, 'slug', problems);
  requireMovesApart(apps, ({ handle }) => handle, 'handle', problems);
  requireMovesApart(providers ?? [], ({ slug }) => slug, 'slug', problems);
  layer.end();
  inspect({ apps, providers: providers ?? [] }, problems);
  problems.throwIfAny();
  return { apps, providers, environment: chosen };
}

function realRoot(path: string): string {
  try {
    if (statSync(path).isDirectory()) return realpathSync(path);
  } catch (error) {
    throw Failure.input('directory_unreadable', error instanceof Error ? error.message : String(error));
  }
  throw Failure.input('directory_unreadable', `${path} is not a directory.`);
}

/** The real path of something in the directory. @throws Failure a symbolic link leads out of it. */
export function inside(root: string, path: string): string {
  const real = realpathSync(path);
  if (real === root || real.startsWith(root + sep)) return real;
  throw Failure.input('link_outside', `${path} points outside the directory, to ${real}.`, {
    nextAction: 'Put the file itself there: links that leave the directory are not followed.',
  });
}

/** Names of the files in a folder; none without it. */
function yamlFilesIn(root: string, name: string): readonly string[] {
  const folder = join(root, name);
  if (!existsSync(folder)) return [];
  return readdirSync(inside(root, folder))
    .filter((file) => YAML.test(file))
    .sort();
}

function contentOf(root: string, file: string): YamlContent {
  const place = { file, line: 1, path: '' };
  let text: string;
  try {
    const path = inside(root, resolve(root, file));
    if (statSync(path).size > MAX_BYTES) throw invalid(place, 'is larger than 1 MiB');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw error instanceof Failure ? error : invalid(place, error instanceof Error ? error.message : String(error));
  }
  return parseYaml(file, text);
}

/** @throws Failure there are environments and none is chosen, or the one that is chosen is not there. */
function chosenIn(
  path: string,
  root: string,
  name: string | undefined,
  problems: Problems,
): EnvironmentFile | undefined {
  const files = yamlFilesIn(root, ENVIRONMENTS_FOLDER);
  const names = files.map((file) => file.replace(YAML, ''));
  if (name === undefined && names.length === 0) return undefined;
  const choice =
    names.length === 0 ? `Write ${ENVIRONMENTS_FOLDER}/${name}.yaml.` : `Those it has: ${names.join(', ')}`;
  if (name === undefined) {
    throw Failure.input('environment_required', `${path} describes several environments.`, {
      nextAction: `Name one: --env <name>. ${choice}`,
    });
  }
  const found = files.filter((file) => file.replace(YAML, '') === name);
  const [file] = found;
  if (file === undefined || found.length > 1) {
    const problem = found.length > 1 ? `has several files of` : 'has no environment';
    throw Failure.input('environment_unknown', `${path} ${problem} "${name}".`, { nextAction: choice });
  }
  if (!ENVIRONMENT.test(name)) {
    const nextAction = 'Name the file in lower-case letters, digits and dashes.';
    throw Failure.input('environment_unknown', `${file} is not the name of an environment.`, { nextAction });
  }
  const inFolder = `${ENVIRONMENTS_FOLDER}/${file}`;
  return problems.collect(() => environmentIn(name, inFolder, contentOf(root, inFolder), problems));
}

/** The place of a key is a unit: that of the environment replaces another. */
function withoutReplaced(value: unknown, overlay: unknown): unknown {
  if (!isTable(value) || !isTable(overlay) || !Object.hasOwn(overlay, 'secret')) return value;
  const { secret: _replaced, ...kept } = value;
  return kept;
}

const NOTHING = { variables: {}, apps: {}, providers: {} };

/** The overrides of an environment. */
class Layer {
  private readonly variables: Variables;
  private readonly unmet: Record<'apps' | 'providers', Set<string>>;
  private isComplete = true;
  private readonly known = { apps: new Set<string>(), providers: new Set<string>() };

  constructor(
    private readonly environment: EnvironmentFile | 'none' | 'unreadable',
    private readonly problems: Problems,
  ) {
    const { variables, apps, providers } = typeof environment === 'object' ? environment : NOTHING;
    this.variables = new Variables(variables);
    this.unmet = { apps: new Set(Object.keys(apps)), providers: new Set(Object.keys(providers)) };
  }

  /** Content of a file. If one cannot be read, unused overrides of the environment are unknown. */
  read<T>(content: () => T): T {
    try {
      return content();
    } catch (error) {
      this.isComplete = false;
      throw error;
    }
  }

  /**
   * The content of a file in this environment; undefined if the environment leaves it out.
   *
   * @param named the member that names the whole.
   * @param at the place of a part of the file.
   */
  over(kind: 'apps' | 'providers', named: string, value: unknown, at: PlaceOf) {
    const { environment } = this;
    if (environment === 'none') return { value, at, isWhole: true };
    if (environment === 'unreadable') return undefined;
    const name = this.substituted(Object(value)[named], at, named);
    this.known[kind].add(String(name));
    this.unmet[kind].delete(String(name));
    const overlays = environment[kind];
    const overlay = typeof name === 'string' && Object.hasOwn(overlays, name) ? overlays[name] : {};
    if (overlay === null) return undefined;
    const placed: PlaceOf = (path) =>
      path !== '' && reaches(overlay, path) ? environment.at(`${kind}.${name}.${path}`) : at(path);
    const before = this.variables.problems.length;
    const filled = this.substituted(merged(withoutReplaced(value, overlay), overlay), placed);
    return { value: filled, at: placed, isWhole: this.variables.problems.length === before };
  }

  /**
   * The overrides, read. Without the value of a variable they are only inspected: no other problem of them is reported.
   */
  placed<T>(laid: ReturnType<Layer['over']>, from: (value: unknown, at: PlaceOf) => T): Placed<T> | undefined {
    if (laid === undefined) return undefined;
    const { value, at, isWhole } = laid;
    const desired = from(value, at);
    return isWhole ? { at, desired } : undefined;
  }

  /** Reports overrides of the environment that apply to no file. */
  end(): void {
    if (typeof this.environment === 'string' || !this.isComplete) return;
    const { at } = this.environment;
    for (const kind of ['apps', 'providers'] as const) {
      const known = [...this.known[kind]].join(', ') || 'none';
      for (const name of this.unmet[kind]) {
        this.problems.add(invalid(at(`${kind}.${name}`), `is in no file; those that are: ${known}`));
      }
    }
    for (const name of this.variables.unused) {
      this.problems.add(invalid(at(`variables.${name}`), 'is used in no file of this environment; remove it'));
    }
  }

  private substituted(value: unknown, at: PlaceOf, path = ''): unknown {
    const before = this.variables.problems.length;
    const filled = this.variables.in(value, path);
    for (const { path: place, problem } of this.variables.problems.slice(before)) {
      this.problems.add(invalid(at(place), problem));
    }
    return filled;
  }
}

function tableIn(root: string, file: string) {
  const { value, lineOf } = contentOf(root, file);
  const at: PlaceOf = (path) => ({ file, line: path === '' ? 1 : lineOf(path), path });
  return { value: tableAt(at, value), at };
}

function appIn(root: string, file: string, layer: Layer): Placed<DesiredApp> | undefined {
  const { value, at } = layer.read(() => tableIn(root, file));
  return layer.placed(layer.over('apps', 'handle', value, at), appFrom);
}

function providersIn(root: string, layer: Layer, problems: Problems): readonly Placed<DesiredProvider>[] {
  const { list, at } = layer.read(() => {
    const content = tableIn(root, PROVIDERS_FILE);
    const top = new Members(content.at, content.value);
    top.allow(['providers']);
    const providers = top.list('providers');
    top.end();
    return { list: providers, at: content.at };
  });
  return list.flatMap((provider, index) => {
    const prefix = `providers.${index}`;
    const inList: PlaceOf = (path) => at(path === '' ? prefix : `${prefix}.${path}`);
    return (
      problems.collect(() => {
        const value = layer.read(() => tableAt(inList, provider));
        return layer.placed(layer.over('providers', 'slug', value, inList), providerFrom);
      }) ?? []
    );
  });
}

function requireDistinct<T>(
  placed: readonly Placed<T>[],
  keyOf: (desired: T) => string,
  name: string,
  problems: Problems,
): void {
  const seen = new Map<string, Placed<T>>();
  for (const one of placed) {
    const key = keyOf(one.desired);
    const other = seen.get(key);
    if (other !== undefined) problems.add(invalid(one.at(name), `"${key}" is also that of ${other.at(name).file}`));
    seen.set(key, one);
  }
}

/** A previous name must not be the current name of another, nor be claimed twice. */
function requireMovesApart<T extends { readonly movedFrom: readonly string[] }>(
  placed: readonly Placed<T>[],
  keyOf: (desired: T) => string,
  name: string,
  problems: Problems,
): void {
  const owners = new Map(placed.map((one) => [keyOf(one.desired), one]));
  for (const one of placed) {
    for (const from of one.desired.movedFrom) {
      const other = owners.get(from);
      if (other !== undefined) {
        problems.add(invalid(one.at('moved.from'), `"${from}" is the ${name} of ${other.at(name).file}`));
      }
      owners.set(from, one);
    }
  }
}
