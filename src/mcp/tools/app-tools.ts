import { AppKeysController } from '../../app-keys/app-keys.controller.js';
import { AppsController } from '../../apps/apps.controller.js';
import { AppSnippetRequest } from '../../apps/dto/app-snippet.request.js';
import {
  DeleteAppRequest,
  ListAppsRequest,
  ReplaceAppRequest,
  ValidateAppDraftRequest,
  ValidateAppRequest,
} from '../../apps/dto/apps.request.js';
import { AppSnippetsController } from '../../apps/snippets/app-snippets.controller.js';
import { appTool, counted, quoted, type Tool, tool, withOrWithoutApp } from './tool.js';

const VALIDATION = {
  name: 'validate_app',
  title: 'Validate an application',
  description:
    'Validates `config`, the body of a replacement, and saves nothing. Without `app` it is validated as a new application.',
  inside: 'config',
  summary: () => 'The configuration is valid.',
};

/** Tools of applications and their keys. */
export const APP_TOOLS: readonly Tool[] = [
  tool({
    name: 'list_apps',
    title: 'List applications',
    route: [AppsController, 'list'],
    input: ListAppsRequest,
    run: (apps, { admin, input }) => apps.list(admin, input),
    summary: ({ apps }) => `${counted(apps.length, 'application')}.`,
  }),
  appTool({
    name: 'get_app',
    title: 'Read an application',
    description: 'Its configuration, what is enforced of it, and the revision that a change needs.',
    route: [AppsController, 'get'],
    run: (apps, { app }) => apps.get(app),
    summary: ({ app }) => `${quoted(app.name)} is ${app.status}, at revision ${app.revision}.`,
  }),
  appTool({
    name: 'check_app',
    title: 'Check an application',
    route: [AppsController, 'check'],
    run: (apps, { app }) => apps.check(app),
    summary: ({ ready }) => `The application is ${ready ? '' : 'not '}ready.`,
  }),
  withOrWithoutApp(
    appTool({
      ...VALIDATION,
      route: [AppsController, 'validate'],
      input: ValidateAppRequest,
      run: (apps, { app, input }) => apps.validate(app, {}, input),
    }),
    tool({
      ...VALIDATION,
      route: [AppsController, 'validateDraft'],
      input: ValidateAppDraftRequest,
      run: (apps, { admin, input }) => apps.validateDraft(admin, {}, input),
    }),
  ),
  appTool({
    name: 'update_app',
    title: 'Replace an application',
    description: 'A full replace: read it with get_app, change what you want, and send all of it with its `revision`.',
    route: [AppsController, 'replace'],
    input: ReplaceAppRequest,
    inside: 'config',
    destructive: true,
    run: (apps, { admin, app, input }) => apps.replace(admin, app, input),
    summary: ({ app }) => `${quoted(app.name)} is ${app.status}, at revision ${app.revision}.`,
  }),
  appTool({
    name: 'remove_app',
    title: 'Delete an application',
    route: [AppsController, 'delete'],
    input: DeleteAppRequest,
    destructive: true,
    run: (apps, { admin, app, input }) => apps.delete(admin, app, input),
    summary: ({ app_id, removed_users }) => `${app_id} is deleted, with ${counted(removed_users, 'user')}.`,
  }),
  appTool({
    name: 'get_app_snippet',
    title: 'Read an example call',
    route: [AppSnippetsController, 'get'],
    input: AppSnippetRequest,
    run: (snippets, { app, input }) => snippets.get(app, input),
    summary: ({ language }) => `An example call, for ${language === 'swift' ? 'Swift' : 'a shell'}.`,
  }),
  appTool({
    name: 'list_app_keys',
    title: 'List application keys',
    route: [AppKeysController, 'list'],
    run: (keys, { app }) => keys.list(app),
    summary: ({ keys }) => `${counted(keys.length, 'key')}.`,
  }),
  appTool({
    name: 'revoke_app_key',
    title: 'Revoke an application key',
    route: [AppKeysController, 'revoke'],
    named: { key: 'Id of the key, not the key itself.' },
    destructive: true,
    run: (keys, { admin, app, named: { key = '' } }) => keys.revoke(admin, app, key),
    summary: ({ key }) => `The key ${key} is revoked.`,
  }),
];
