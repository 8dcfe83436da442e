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
  const providers = existsSync(join(root, PROVIDERS_FILE)) ? providersIn(root) : undefined;
  const folder = join(root, APPS_FOLDER);
  const names = existsSync(folder)
    ? readdirSync(inside(root, folder))
        .filter((name) => YAML.test(name))
        .sort()
    : [];
  const apps = names.map((name) => appIn(root, `${APPS_FOLDER}/${name}`));
  if (providers === undefined && apps.length === 0) {
    throw Failure.input('directory_empty', `${path} holds no configuration.`, {
      nextAction: `Write one: gw export ${path}`,
    });
  }
  requireDistinct(apps, ({ handle }) => handle, 'handle');
  requireDistinct(providers ?? [], ({ slug }) => slug, 'slug');
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
  const handle = reader.text('handle');
  if (!HANDLE.test(handle))
    throw invalid(file, lineOf('handle'), 'handle: must be 1 to 63 lower-case letters, digits and dashes');
  const config = reader.object('config') as unknown as AppConfig;
  return { file, lineOf, desired: { handle, name: reader.text('name'), status: reader.status(), config } };
}

function providersIn(root: string): readonly Placed<DesiredProvider>[] {
  const { members, lineOf } = contentOf(root, PROVIDERS_FILE);
  new Members(PROVIDERS_FILE, lineOf, '', members).allow(['providers']);
  if (!Array.isArray(members.providers)) throw invalid(PROVIDERS_FILE, 1, 'providers: must be a list');
  return members.providers.map((value: unknown, index) => {
    const path = `providers.${index}`;
    const reader = new Members(PROVIDERS_FILE, lineOf, `${path}.`, objectAt(PROVIDERS_FILE, { lineOf }, path, value));
    reader.allow(['slug', 'type', 'name', 'status', 'baseUrl', 'providerGateway', 'gatewayRoute', 'pricing']);
    const desired = {
      ...{ slug: reader.text('slug'), type: reader.text('type'), name: reader.text('name'), status: reader.status() },
      ...{ baseUrl: reader.optionalText('baseUrl'), providerGateway: reader.optionalText('providerGateway') },
      ...{ gatewayRoute: reader.optionalObject('gatewayRoute'), pricing: reader.optionalObject('pricing') },
    };
    const place = (inner: string) => lineOf(`${path}.${inner}`);
    return { file: PROVIDERS_FILE, lineOf: place, desired };
  });
}

/** Members of an object in a file, each read as what it must be. */
class Members {
  constructor(
    private readonly file: string,
    private readonly lineOf: YamlContent['lineOf'],
    private readonly prefix: string,
    private readonly members: Readonly<Record<string, unknown>>,
  ) {}

  allow(names: readonly string[]): void {
    const stranger = Object.keys(this.members).find((name) => !names.includes(name));
    if (stranger !== undefined) throw this.problem(stranger, `is none of ${names.join(', ')}`);
  }

  text(name: string): string {
    const value = this.members[name];
    if (typeof value === 'string' && value.trim() !== '') return value;
    throw this.problem(name, value === undefined ? 'is missing' : 'must be text');
  }

  optionalText(name: string): string | null {
    return (this.members[name] ?? null) === null ? null : this.text(name);
  }

  object(name: string): object {
    const value = this.members[name];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    throw this.problem(name, value === undefined ? 'is missing' : 'must hold members');
  }

  optionalObject(name: string): object | null {
    return (this.members[name] ?? null) === null ? null : this.object(name);
  }

  status(): 'active' | 'disabled' {
    const value = this.members.status ?? 'active';
    if (value === 'active' || value === 'disabled') return value;
    throw this.problem('status', 'must be active or disabled');
  }

  private problem(name: string, problem: string): Failure {
    const path = `${this.prefix}${name}`;
    return invalid(this.file, this.lineOf(path), `${path}: ${problem}`);
  }
}

function objectAt(file: string, { lineOf }: Pick<YamlContent, 'lineOf'>, path: string, value: unknown) {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid(file, path === '' ? 1 : lineOf(path), path === '' ? 'must hold members' : `${path}: must hold members`);
}

function requireDistinct<T>(placed: readonly Placed<T>[], keyOf: (desired: T) => string, name: string): void {
  const seen = new Map<string, Placed<T>>();
  for (const one of placed) {
    const key = keyOf(one.desired);
    const other = seen.get(key);
    if (other !== undefined)
      throw invalid(one.file, one.lineOf(name), `${name}: "${key}" is also that of ${other.file}`);
    seen.set(key, one);
  }
}

/** A file that is not what it must be. */
export function invalid(file: string, line: number, problem: string, nextAction?: string): Failure {
  const details = { problems: [{ file, line, problem }] };
  const facts = { details, ...(nextAction !== undefined && { nextAction }) };
  return Failure.input('invalid_configuration', `${file}:${line}: ${problem}`, facts);
}
