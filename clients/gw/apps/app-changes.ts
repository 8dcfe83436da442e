import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, read } from '../api/client.js';
import { createOnce } from '../api/creation.js';
import { sessionOf } from '../api/session.js';
import type { Action, Outcome } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { KeyFile } from '../state/key-file.js';
import { printable } from '../terminal/terminal.js';
import { STATUSES } from './app-choices.js';
import { type AppDraft, draftOf, fileOf } from './app-file.js';
import { appIdOf, changed } from './apps.js';
import { withMembers } from './config-members.rules.js';

/** The result of a validation. */
function valid<T extends { readonly warnings?: readonly string[] }>(result: T): Outcome {
  const warnings = (result.warnings ?? []).map((warning) => `Warning: ${printable(warning)}`);
  return { result, text: ['Valid. Nothing was changed.', ...warnings].join('\n') };
}

/** `gw app add` */
export const add: Action = async (gw) => {
  const file = gw.text('file');
  const draft = file === undefined ? draftOf(gw) : await fileOf(file);
  const { api } = await sessionOf(gw);
  if (gw.flag('dryRun')) return valid(await validDraft(api, draft));
  const created = await createApp(gw, api, draft, gw.text('keyOutput'));
  const where = created.api_key === null ? '' : ` Its key is in ${created.api_key.key_file}.`;
  return changed(created, `Added ${created.app.name}.${where}`);
};

/** A new application; its first key is written to a file and not printed. */
export type CreatedApp = Omit<components['schemas']['CreatedAppResponse'], 'api_key'> & {
  readonly api_key: SavedKey | null;
};

/** A key without its text. */
export interface SavedKey {
  readonly id: string;
  readonly name: string;
  readonly key_prefix: string;
  readonly created_at: string;
  readonly key_file: string;
}

/**
 * Creates an application. @param keyOutput where the key of a server application goes. @throws Failure it has no place.
 */
export async function createApp(
  gw: Invocation,
  api: Api,
  draft: AppDraft,
  keyOutput: string | undefined,
): Promise<CreatedApp> {
  if (draft.config.authentication?.type !== 'api_key') {
    return createOnce(gw, { app: draft }, async (headers) => {
      const { api_key, ...created } = await read(api.POST('/v1/admin/apps', { body: draft, headers }));
      return { ...created, api_key: null };
    });
  }
  return keepingKey(keyOutput, draft.handle ?? undefined, (file) =>
    createOnce(gw, { app: draft }, async (headers) => {
      const { api_key: issued, ...created } = await read(api.POST('/v1/admin/apps', { body: draft, headers }));
      if (issued === null) throw Failure.remote('unexpected_answer', 'The gateway created no key for the application.');
      return { ...created, api_key: saved(file, issued, created.app.handle ?? created.app.id) };
    }),
  );
}

/** Creates a key only if there is a place for it. */
export async function keepingKey<T>(
  keyOutput: string | undefined,
  name: string | undefined,
  make: (file: KeyFile) => Promise<T>,
): Promise<T> {
  if (keyOutput === undefined) {
    const nextAction = 'Name its file: --key-output app.key';
    throw Failure.input('key_output_required', 'This creates a key, which is never shown.', { nextAction });
  }
  const file = KeyFile.reserve(keyOutput, name);
  try {
    return await make(file);
  } catch (error) {
    file.discard();
    throw error;
  }
}

/** Puts an issued key into its file. @returns the rest of it. */
export function saved(file: KeyFile, issued: components['schemas']['IssuedAppKeyResponse'], name: string): SavedKey {
  const { key, ...shown } = issued;
  return { ...shown, key_file: file.save(key, name) };
}

/** `gw app update` */
export const update: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const { app } = await read(api.GET('/v1/admin/apps/{app}', { params: { path } }));
  const file = gw.text('file');
  const [name, handle] = [gw.text('name'), gw.text('handle')];
  const status = gw.choice('status', STATUSES);
  const draft = file === undefined ? { name: app.name, config: app.config as AppDraft['config'] } : await fileOf(file);
  const body = {
    ...{ ...draft, config: withMembers(draft.config, gw.texts('set') ?? []) },
    ...(name !== undefined && { name }),
    ...(handle !== undefined && { handle }),
    ...(gw.flag('clearHandle') && { handle: null }),
    ...(status !== undefined && { status }),
    revision: gw.integer('revision', { min: 1, max: 2 ** 31 - 1 }) ?? app.revision,
  };
  if (gw.flag('dryRun'))
    return valid(await read(api.POST('/v1/admin/apps/{app}/validate', { params: { path }, body })));
  const result = await read(api.PUT('/v1/admin/apps/{app}', { params: { path }, body }));
  return changed(result, `Changed ${result.app.name}.`);
};

/** `gw app validate` */
export const validate: Action = async (gw) => {
  const body = await fileOf(gw.required('file'));
  const { api } = await sessionOf(gw);
  const named = gw.optionalArgument(0);
  if (named === undefined) return valid(await validDraft(api, body));
  const path = { app: await appIdOf(api, named) };
  return valid(await read(api.POST('/v1/admin/apps/{app}/validate', { params: { path }, body })));
};

/** `gw app remove` */
export const remove: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const app = await appIdOf(api, gw.argument(0));
  await gw.confirm(`Remove the application ${app} with its keys and users?`);
  const params = { path: { app }, query: { confirm: app } };
  const result = await read(api.DELETE('/v1/admin/apps/{app}', { params }));
  return { result, text: `Removed ${app}. Users removed with it: ${result.removed_users}.` };
};

const validDraft = (api: Api, body: AppDraft) => read(api.POST('/v1/admin/apps/validate', { body }));
