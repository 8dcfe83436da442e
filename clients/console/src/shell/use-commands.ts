import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { api, read, type Schemas } from '../api/client';
import { type AppSummary, queries } from '../api/queries';
import { APP_TABS, type AppTab } from '../apps/app-tabs';
import { userPath } from '../apps/user-address';
import { useDebounced } from '../design/debounced';
import { type Command, matching, partsIn, shortened } from './commands.rules';
import { NAVIGATION } from './pages';
import { applyTheme } from './theme';

/** The most results in the palette. */
const MAX_SHOWN = 20;
/** Of these, where there are more of everything. */
const MOST_DOCUMENTS = 5;
const MOST_APPS = 50;
const MOST_USERS = 5;
const FEWEST_LETTERS = 2;
/** Newest calls of a user, to see which applications they call. */
const MOST_CALLS = 50;

/** Actions of the page frame for the palette. */
export interface ShellActs {
  readonly showShortcuts: () => void;
  readonly signOut: () => void;
}

interface Found {
  readonly commands: readonly Command[];
  /** Whether all results for the typed text have arrived. */
  readonly isSettled: boolean;
}

/** Pages, actions, applications with their tabs, providers, users and documents for a text. */
export function useCommands(typed: string, acts: ShellActs): Found {
  const [path, navigate] = useLocation();
  const client = useQueryClient();
  const settled = useDebounced(typed).trim();
  const hereId = /^\/apps\/(?!new$)([^/]+)/.exec(path)?.[1];
  const { before, parts } = partsIn(settled, APP_TABS);
  const search = (query: string) => ({ ...queries.apps({ query, sort: 'name', limit: MOST_APPS }) });
  const apps = useQuery({ ...search(settled), placeholderData: keepPreviousData });
  const appsOfParts = useQuery({ ...search(before), enabled: before !== '' });
  const users = useQuery({
    queryKey: ['app', hereId, 'users', 'palette', settled],
    queryFn: () => {
      const params = { path: { app: hereId ?? '' }, query: { query: settled, limit: MOST_USERS } };
      return read(api.GET('/v1/admin/apps/{app}/users', { params }));
    },
    enabled: hereId !== undefined && settled.length >= FEWEST_LETTERS,
  });
  const callers = useQuery({
    queryKey: ['usage', 'user', settled],
    queryFn: () => read(api.GET('/v1/admin/usage/events', { params: { query: { user: settled, limit: MOST_CALLS } } })),
    enabled: settled.length >= FEWEST_LETTERS,
  });
  const { data: providers = [] } = useQuery(queries.providers());
  const { data: documents = [] } = useQuery(queries.documents());
  const to = (address: string, label: string, kind: string, ...also: readonly string[]): Command => ({
    ...{ id: `${kind} ${address} ${label}`, label, kind, also },
    run: () => navigate(address),
  });
  const tab = (id: string, name: string, part: AppTab) =>
    to(`/apps/${id}/${part}`, `${name}: ${APP_TABS[part]}`, 'Tab', `${name} ${APP_TABS[part]}`);
  const userOf = (app: string, id: string, appName = 'this application') => ({
    ...to(userPath(app, id), id, `User of ${appName}`),
    id: `user ${app} ${id}`,
  });
  const here = client.getQueryData<Schemas['AppResponse']>(queries.app(hereId ?? '').queryKey)?.app;
  const commands = [
    ...NAVIGATION.map(({ to: address, label }) => to(address, label, 'Page')),
    to('/settings/profile', 'Profile', 'Page'),
    to('/settings/security', 'Password and sessions', 'Page'),
    to('/settings/mail', 'Mail', 'Page'),
    ...(here === undefined ? [] : (Object.keys(APP_TABS) as AppTab[]).map((part) => tab(here.id, here.name, part))),
    to('/apps/new', 'New application', 'Action'),
    to('/providers', 'Add a provider', 'Action'),
    to('/providers/gateways', 'Upstream gateways', 'Page'),
    to('/providers', 'Rotate a provider key', 'Action'),
    to('/members', 'Invite a person', 'Action'),
    to('/access', 'Create a management key', 'Action'),
    to('/access', 'Connect an AI client', 'Action', 'MCP'),
    to(hereId === undefined ? '/apps' : `/apps/${hereId}/users`, 'Block a user', 'Action', 'unblock a user'),
    to('/usage?view=calls&status=refused', 'Refused calls', 'Page', 'blocked calls', 'why was a call refused'),
    to('/usage', 'Export usage as CSV', 'Action'),
    to('/audit', 'Export the audit trail as CSV', 'Action'),
    to(hereId === undefined ? '/apps' : `/apps/${hereId}/limits`, 'Change a budget', 'Action', 'limits'),
    to('/webhooks', 'Add a webhook', 'Action'),
    to(hereId === undefined ? '/apps' : `/apps/${hereId}/endpoints`, 'Resumable answers', 'Setting', 'resume a stream'),
    to(hereId === undefined ? '/apps' : `/apps/${hereId}/auth-events`, 'Preview enforcement', 'Page', 'observe proofs'),
    { id: 'shortcuts', label: 'Keyboard shortcuts', kind: 'Action', run: acts.showShortcuts },
    { id: 'sign out', label: 'Sign out', kind: 'Action', run: acts.signOut },
    ...(['system', 'light', 'dark'] as const).map((theme) => ({
      ...{ id: `theme ${theme}`, label: `Theme: ${theme}`, kind: 'Setting' },
      run: () => applyTheme(theme),
    })),
    ...providers.map(({ id, name, slug }) => ({ ...to('/providers', name, 'Provider', slug), id: `provider ${id}` })),
    ...(apps.data?.apps ?? []).map((app) => to(`/apps/${app.id}/overview`, app.name, 'Application', ...namesOf(app))),
    ...(appsOfParts.data?.apps ?? []).flatMap(({ id, name }) => parts.map((part) => tab(id, name, part))),
    ...(users.data?.users ?? []).map(({ id }) => userOf(hereId ?? '', id, here?.name)),
    // Users of other applications are found by the whole id, if a call of the last 30 days has it.
    ...(callers.data?.events ?? []).flatMap(({ app_id: app, user_id: id }) =>
      id === null ? [] : [userOf(app, id, app === hereId ? here?.name : app)],
    ),
    ...documents.map(({ address, title, group, words }, place) => ({
      ...{ id: `document ${address}`, label: title, kind: 'Documentation', also: [group, ...words], place },
      run: () => void open(address, '_blank', 'noopener'),
    })),
  ];
  const isAsking = [apps, appsOfParts, users, callers].some(
    ({ fetchStatus, isPlaceholderData, data, failureReason }) =>
      fetchStatus === 'fetching' && failureReason === null && (isPlaceholderData || data === undefined),
  );
  return {
    commands: shortened(matching(uniqueOf(commands), typed), MAX_SHOWN, MOST_DOCUMENTS),
    isSettled: settled === typed.trim() && !isAsking,
  };
}

function namesOf({ id, handle, apple_bundle_id: bundle }: AppSummary): readonly string[] {
  return [id, handle, bundle].filter((name) => name !== null);
}

/** The first of those with the same id: a tab can be found in two ways. */
function uniqueOf(commands: readonly Command[]): readonly Command[] {
  return [...new Map(commands.toReversed().map((command) => [command.id, command])).values()].toReversed();
}
