import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import appSchema from '../../../docs/schemas/app.schema.json' with { type: 'json' };
import environmentSchema from '../../../docs/schemas/environment.schema.json' with { type: 'json' };
import providersSchema from '../../../docs/schemas/providers.schema.json' with { type: 'json' };
import { sessionOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { counted } from '../terminal/words.rules.js';
import { readAccount, readApps } from './account-state.js';
import {
  APP_SCHEMA,
  APPS_FOLDER,
  appFileText,
  type DesiredProvider,
  ENVIRONMENT_SCHEMA,
  ENVIRONMENTS_FOLDER,
  PROVIDERS_FILE,
  PROVIDERS_SCHEMA,
  providersFileText,
  SCHEMAS_FOLDER,
} from './configuration-files.js';
import { inside } from './directory.js';

/** `gw export` */
export const exportTo: Action = async (gw) => {
  const directory = gw.optionalArgument(0) ?? '.';
  requireNoEnvironments(directory);
  const { api } = await sessionOf(gw);
  const { providers, apps: summaries } = await readAccount(api);
  const apps = await readApps(api, summaries, gw.terminal);
  requireDistinctFiles(apps.map(({ handle }) => handle));
  gw.terminal.tell('Writing files');
  const files = new Map<string, string>([
    [PROVIDERS_FILE, providersFileText(providers.map(withoutPlace))],
    [`${SCHEMAS_FOLDER}/${APP_SCHEMA}`, `${JSON.stringify(appSchema, null, 2)}\n`],
    [`${SCHEMAS_FOLDER}/${ENVIRONMENT_SCHEMA}`, `${JSON.stringify(environmentSchema, null, 2)}\n`],
    [`${SCHEMAS_FOLDER}/${PROVIDERS_SCHEMA}`, `${JSON.stringify(providersSchema, null, 2)}\n`],
    ...apps.map((app): [string, string] => [`${APPS_FOLDER}/${app.handle}.yaml`, appFileText(app)]),
  ]);
  const strangers = writeAll(directory, files);
  const names = [...files.keys()].sort();
  const note = strangers.length === 0 ? '' : `\nNot of this account, and unchanged: ${strangers.join(', ')}`;
  const text = `Wrote ${counted(apps.length, 'application')} and ${counted(providers.length, 'provider')} to ${directory}.${note}`;
  return { result: { directory, files: names, leftAlone: strangers }, text };
};

function withoutPlace(provider: DesiredProvider): Omit<DesiredProvider, 'secret' | 'movedFrom'> {
  const { slug, type, name, status, baseUrl, providerGateway, gatewayRoute, pricing } = provider;
  return { slug, type, name, status, baseUrl, providerGateway, gatewayRoute, pricing };
}

/**
 * The state of an account would replace the common base of the environments. @throws Failure if the directory has
 * environments.
 */
function requireNoEnvironments(directory: string): void {
  if (!existsSync(join(directory, ENVIRONMENTS_FOLDER))) return;
  throw Failure.input('directory_has_environments', `${directory} describes several environments.`, {
    nextAction: 'Export to another directory, then copy what you need.',
  });
}

/** An application without a handle is written under its id, which may be the handle of another. */
function requireDistinctFiles(handles: readonly string[]): void {
  const twice = handles.find((handle, index) => handles.indexOf(handle) !== index);
  if (twice === undefined) return;
  throw Failure.input('ambiguous', `"${twice}" is the handle of one application and the id of another.`, {
    nextAction: `Change the handle of the first: gw app update ${twice} --handle <handle>`,
  });
}

/** Writes each file atomically. @returns files of applications that the account does not have. */
function writeAll(directory: string, files: ReadonlyMap<string, string>): readonly string[] {
  try {
    mkdirSync(directory, { recursive: true });
    const root = realpathSync(directory);
    for (const [name, text] of files) {
      const path = join(root, name);
      mkdirSync(dirname(path), { recursive: true });
      const folder = inside(root, dirname(path));
      const draft = join(folder, `.gw-${process.pid}`);
      try {
        writeFileSync(draft, text, { flag: 'wx' });
        renameSync(draft, path);
      } finally {
        rmSync(draft, { force: true });
      }
    }
    mkdirSync(join(root, APPS_FOLDER), { recursive: true });
    const present = readdirSync(join(root, APPS_FOLDER)).map((name) => `${APPS_FOLDER}/${name}`);
    return present.filter((name) => /\.ya?ml$/.test(name) && !files.has(name)).sort();
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw Failure.input('directory_unwritable', error instanceof Error ? error.message : String(error), {
      nextAction: 'Name a directory that you can write to.',
    });
  }
}
