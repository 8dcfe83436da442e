import { originOf } from '../api/session.js';
import { Failure } from '../program/failure.js';
import { isTable } from './layers.rules.js';
import { Members, type PlaceOf, tableAt } from './members.js';
import type { Problems } from './problems.js';
import type { YamlContent } from './yaml-file.js';

/** Name of an environment: that of its file. */
export const ENVIRONMENT = /^[a-z0-9][a-z0-9-]{0,62}$/;
const VARIABLE = /^[A-Za-z]\w*$/;

/** The differences between the deployments that one directory describes. */
export interface EnvironmentFile {
  readonly name: string;
  /** Path of the file in the directory. */
  readonly file: string;
  readonly at: PlaceOf;
  /** The only gateway and account that it is for. Null: any. */
  readonly url: string | null;
  readonly account: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  /** By handle and by slug; null: absent in this environment. */
  readonly apps: Readonly<Record<string, unknown>>;
  readonly providers: Readonly<Record<string, unknown>>;
}

/**
 * Reads `environments/<name>.yaml`. @param problems collects the problems of its parts. @throws Failure if it is empty.
 */
export function environmentIn(
  name: string,
  file: string,
  { value, lineOf }: YamlContent,
  problems: Problems,
): EnvironmentFile {
  const at: PlaceOf = (path) => ({ file, line: path === '' ? 1 : lineOf(path), path });
  const reader = new Members(at, tableAt(at, value));
  reader.allow(['url', 'account', 'variables', 'apps', 'providers']);
  const url = reader.optionalText('url');
  const environment = {
    ...{ name, file, at, url: url && originIn(url, reader), account: reader.optionalText('account') },
    variables: reader.optionalObject('variables') ?? {},
    apps: overlaysIn(reader, 'apps', ['name', 'status', 'config']),
    providers: overlaysIn(reader, 'providers', PROVIDER_MEMBERS),
  };
  for (const variable of Object.keys(environment.variables).filter((one) => !VARIABLE.test(one))) {
    reader.problem(`variables.${variable}`, 'must be letters, digits and underscores, starting with a letter');
  }
  problems.collect(() => reader.end());
  return environment;
}

/** The members of a provider that an environment may override: slug and type are the same in all. */
const PROVIDER_MEMBERS = ['name', 'status', 'baseUrl', 'providerGateway', 'gatewayRoute', 'pricing', 'secret'];

function overlaysIn(reader: Members, name: string, allowed: readonly string[]) {
  const overlays = reader.optionalObject(name) ?? {};
  for (const [named, overlay] of Object.entries(overlays)) {
    if (overlay === null) continue;
    if (!isTable(overlay)) reader.problem(`${name}.${named}`, 'must hold members, or be null: not in this environment');
    else
      for (const stranger of Object.keys(overlay).filter((member) => !allowed.includes(member))) {
        reader.problem(`${name}.${named}.${stranger}`, `cannot differ by environment; use ${allowed.join(', ')}`);
      }
  }
  return overlays;
}

function originIn(url: string, reader: Members): string {
  try {
    return originOf(url, true);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    reader.problem('url', 'must be the address of a gateway, such as https://gateway.example.com');
    return url;
  }
}
