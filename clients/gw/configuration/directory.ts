import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { Failure } from '../program/failure.js';
import {
  APPS_FOLDER,
  type AppConfig,
  type DesiredApp,
  type DesiredProvider,
  PROVIDERS_FILE,
} from './configuration-files.js';
import { invalid, Problems } from './problems.js';
import { parseYaml, type YamlContent } from './yaml-file.js';

const YAML = /\.ya?ml$/;
const MAX_BYTES = 1_048_576;
const HANDLE = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Something of a file, with the place it stands at. */
export interface Placed<T> {
  readonly file: string;
  lineOf: YamlContent['lineOf'];
  readonly desired: T;
}

/** What a directory says. */
export interface Directory {
  readonly apps: readonly Placed<DesiredApp>[];
  /** Undefined without the file: the directory owns no providers. */
  readonly providers: readonly Placed<DesiredProvider>[] | undefined;
}

/** Reads a directory. @throws Failure it is none, holds nothing, or a file is not what it must be. */
export function readDirectory(path: string): Directory {
  const root = realRoot(path);
  const problems = new Problems();
  const hasProviders = existsSync(join(root, PROVIDERS_FILE));
  const providers = hasProviders ? (problems.collect(() => providersIn(root, problems)) ?? []) : undefined;
  const folder = join(root, APPS_FOLDER);
  const names = existsSync(folder)
    ? readdirSync(inside(root, folder))
        .filter((name) => YAML.test(name))
        .sort()
    : [];
  const apps = names.flatMap((name) => problems.collect(() => appIn(root, `${APPS_FOLDER}/${name}`)) ?? []);
  if (names.length === 0 && providers === undefined) {
    throw Failure.input('directory_empty', `${path} holds no configuration.`, {
      nextAction: `Write one: gw export ${path}`,
    });
  }
  requireDistinct(apps, ({ handle }) => handle, 'handle', problems);
  requireDistinct(providers ?? [], ({ slug }) => slug, 'slug', problems);
  problems.throwIfAny();
  return { apps, providers };
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
  throw Failure.input('link_outside', `${path} leads out of the directory, to ${real}.`, {
    nextAction: 'Put the file itself there: links are not followed out of the directory.',
  });
}

function contentOf(root: string, file: string): YamlContent & { readonly members: Readonly<Record<string, unknown>> } {
  const path = inside(root, resolve(root, file));
  if (statSync(path).size > MAX_BYTES) throw invalid(file, 1, 'is larger than 1 MiB');
  const content = parseYaml(file, readFileSync(path, 'utf8'));
  return { ...content, members: objectAt(file, content, '', content.value) };
}

function appIn(root: string, file: string): Placed<DesiredApp> {
  const { members, lineOf } = contentOf(root, file);
  const reader = new Members(file, lineOf, '', members);
  reader.allow(['name', 'handle', 'status', 'config']);
  const desired = {
    ...{ handle: reader.text('handle', [HANDLE, 'must be 1 to 63 lower-case letters, digits and dashes']) },
    ...{ name: reader.text('name'), status: reader.status(), config: reader.object('config') as unknown as AppConfig },
  };
  reader.end();
  return { file, lineOf, desired };
}

function providersIn(root: string, problems: Problems): readonly Placed<DesiredProvider>[] {
  const { members, lineOf } = contentOf(root, PROVIDERS_FILE);
  const top = new Members(PROVIDERS_FILE, lineOf, '', members);
  top.allow(['providers']);
  top.end();
  if (!Array.isArray(members.providers)) throw invalid(PROVIDERS_FILE, 1, 'providers: must be a list');
  return members.providers.flatMap((value: unknown, index) => {
    return problems.collect(() => providerAt(value, `providers.${index}`, lineOf)) ?? [];
  });
}

function providerAt(value: unknown, path: string, lineOf: YamlContent['lineOf']): Placed<DesiredProvider> {
  const reader = new Members(PROVIDERS_FILE, lineOf, `${path}.`, objectAt(PROVIDERS_FILE, { lineOf }, path, value));
  reader.allow(['slug', 'type', 'name', 'status', 'baseUrl', 'providerGateway', 'gatewayRoute', 'pricing']);
  const desired = {
    ...{ slug: reader.text('slug'), type: reader.text('type'), name: reader.text('name'), status: reader.status() },
    ...{ baseUrl: reader.optionalText('baseUrl'), providerGateway: reader.optionalText('providerGateway') },
    ...{ gatewayRoute: reader.optionalObject('gatewayRoute'), pricing: reader.optionalObject('pricing') },
  };
  reader.end();
  return { file: PROVIDERS_FILE, lineOf: (inner) => lineOf(`${path}.${inner}`), desired };
}

/** Reads the members of an object in a file, each as its type. `end` reports the problems. */
class Members {
  private readonly problems = new Problems();

  constructor(
    private readonly file: string,
    private readonly lineOf: YamlContent['lineOf'],
    private readonly prefix: string,
    private readonly members: Readonly<Record<string, unknown>>,
  ) {}

  allow(names: readonly string[]): void {
    for (const stranger of Object.keys(this.members).filter((name) => !names.includes(name))) {
      this.problem(stranger, `is not a known member; use ${names.join(', ')}`);
    }
  }

  /** @param form that it must have, and what that is. */
  text(name: string, [form, meaning]: readonly [RegExp, string] = [/\S/, 'must be text']): string {
    const value = this.members[name];
    if (typeof value !== 'string' || value.trim() === '') {
      this.problem(name, value === undefined ? 'is missing' : 'must be text');
      return '';
    }
    if (!form.test(value)) this.problem(name, meaning);
    return value;
  }

  optionalText(name: string): string | null {
    return (this.members[name] ?? null) === null ? null : this.text(name);
  }

  object(name: string): object {
    const value = this.members[name];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    this.problem(name, value === undefined ? 'is missing' : 'must hold members');
    return {};
  }

  optionalObject(name: string): object | null {
    return (this.members[name] ?? null) === null ? null : this.object(name);
  }

  status(): 'active' | 'disabled' {
    const value = this.members.status ?? 'active';
    if (value === 'active' || value === 'disabled') return value;
    this.problem('status', 'must be active or disabled');
    return 'active';
  }

  /** @throws Failure everything that is wrong. */
  end(): void {
    this.problems.throwIfAny();
  }

  private problem(name: string, problem: string): void {
    const path = `${this.prefix}${name}`;
    this.problems.add(invalid(this.file, this.lineOf(path), `${path}: ${problem}`));
  }
}

function objectAt(file: string, { lineOf }: Pick<YamlContent, 'lineOf'>, path: string, value: unknown) {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid(file, path === '' ? 1 : lineOf(path), path === '' ? 'must hold members' : `${path}: must hold members`);
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
    if (other !== undefined)
      problems.add(invalid(one.file, one.lineOf(name), `${name}: "${key}" is also that of ${other.file}`));
    seen.set(key, one);
  }
}
