import { type Api, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import { meaningOf } from '../configuration/change-effects.rules.js';
import type { AppConfig } from '../configuration/configuration-files.js';
import { differences } from '../configuration/difference.rules.js';
import { type Change, planColour, planText } from '../configuration/plan.rules.js';
import type { Action, Outcome } from '../program/command.js';
import { asFailure, EXIT, Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { EditedFile } from '../terminal/editor.js';
import { type AppDraft, fileOf } from './app-file.js';
import { type App, appIdOf, changed } from './apps.js';

interface Stored {
  readonly app: App;
  readonly resolved: object | null;
  readonly config_error: string | null;
}

/** `gw app edit` */
export const edit: Action = async (gw) => {
  if (!gw.flag('yes') && !gw.mayAsk) {
    const nextAction = 'Confirm with --yes, or edit a file: gw app update <app> --file <file>';
    throw Failure.input('confirmation_required', 'The change needs confirmation, and input is not possible here.', {
      nextAction,
    });
  }
  const { api } = await sessionOf(gw);
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const stored = await read(api.GET('/v1/admin/apps/{app}', { params: { path } }));
  const file = new EditedFile(`${stored.app.handle ?? stored.app.id}.yaml`, await textOf(stored.app));
  try {
    const outcome = await edited(gw, api, stored, file);
    file.remove();
    return outcome;
  } catch (error) {
    throw keeping(asFailure(error), gw, stored.app, file);
  }
};

/** The parts of an application that a person edits. */
const partOf = ({ name, handle, status, config }: App) => ({ name, handle, status, config });

async function textOf(app: App): Promise<string> {
  const { Document } = await import('yaml');
  const document = new Document(partOf(app));
  document.commentBefore = [
    ` The application ${app.id}, revision ${app.revision}.`,
    ' Save and close to review the change before it is made. Without edits, nothing changes.',
  ].join('\n');
  return document.toString({ lineWidth: 0 });
}

async function edited(gw: Invocation, api: Api, stored: Stored, file: EditedFile): Promise<Outcome> {
  const draft = await validDraft(gw, api, stored.app, file);
  const change = draft === undefined ? undefined : await changeOf(api, stored, draft);
  if (draft === undefined || change === undefined) return { result: stored, text: 'Nothing was changed.' };
  const plan = { changes: [change], missing: [], unowned: { apps: [], providers: [] }, newKeys: [] };
  if (!gw.isJson) gw.terminal.print(planText(plan), planColour);
  await gw.confirm('Make this change?');
  const params = { path: { app: stored.app.id } };
  const body = { ...draft, revision: stored.app.revision };
  return changed(await read(api.PUT('/v1/admin/apps/{app}', { params, body })), `Changed ${draft.name}.`);
}

type ValidDraft = Required<AppDraft>;

/** The edited text, as it would be stored; undefined if unchanged. @throws Failure it is refused. */
async function validDraft(gw: Invocation, api: Api, app: App, file: EditedFile): Promise<ValidDraft | undefined> {
  for (;;) {
    await file.edit(gw);
    if (file.isUnchanged) return undefined;
    gw.standing = `Nothing was changed. The text is kept in ${file.path}.`;
    gw.terminal.tell('Validating');
    try {
      const { name, config, status = app.status, handle = null } = await fileOf(file.path);
      const params = { path: { app: app.id }, query: { include: 'config' } } as const;
      const body = { name, handle, status, config, revision: app.revision };
      const accepted = await read(api.POST('/v1/admin/apps/{app}/validate', { params, body }));
      return { name, handle, status, config: accepted.config ?? config };
    } catch (error) {
      if (!(error instanceof Failure) || error.exitCode !== EXIT.input || !gw.mayAsk) throw error;
      gw.terminal.printError(`Error: ${error.message}`, 'red');
      if (!(await gw.terminal.confirm('Edit it again?'))) throw error;
    }
  }
}

/** The difference to what is stored; undefined without one. */
async function changeOf(api: Api, { app, config_error }: Stored, draft: ValidDraft): Promise<Change | undefined> {
  const fields = differences(partOf(app), draft);
  if (fields.length === 0) return undefined;
  const { apps } = await read(api.GET('/v1/admin/apps', { params: { query: { query: app.id } } }));
  const users = apps.find(({ id }) => id === app.id)?.users.total ?? 0;
  const before = { status: app.status, config: app.config as AppConfig };
  // The meaning of a configuration that is no longer valid is unknown.
  const meaning = config_error === null ? meaningOf(before, draft as typeof before, users) : [];
  return { kind: 'app', action: 'update', name: app.handle ?? app.id, id: app.id, fields, meaning };
}

/** A failure that names the file with the edited text, if there is one to keep. */
function keeping(failure: Failure, gw: Invocation, { revision }: App, file: EditedFile): Failure {
  if (file.isUnchanged) {
    file.remove();
    return failure;
  }
  const kept = failure.message.includes(file.path) ? '' : ` The text is kept in ${file.path}.`;
  const named = gw.argument(0);
  const isStale = failure.code === 'app_revision_conflict';
  const use = `gw app update ${named} --file ${file.path}`;
  const nextAction = isStale
    ? `Someone else changed it at the same time: compare with gw app show ${named}, then ${use}`
    : `Correct it there if necessary, then: ${use} --revision ${revision}`;
  return new Failure(failure.exitCode, failure.code, `${failure.message}${kept}`, {
    ...{ nextAction, details: { ...failure.details, file: file.path } },
  });
}
