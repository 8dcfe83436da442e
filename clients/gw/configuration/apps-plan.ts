import { type Api, read } from '../api/client.js';
import type { AppDraft } from '../apps/app-file.js';
import { Failure } from '../program/failure.js';
import type { Terminal } from '../terminal/terminal.js';
import { type CurrentApp, readApps } from './account-state.js';
import { creationMeaning, meaningOf } from './change-effects.rules.js';
import type { AppConfig, DesiredApp } from './configuration-files.js';
import { differences } from './difference.rules.js';
import type { Placed } from './directory.js';
import { appProblems } from './file-schema.rules.js';
import type { Found, FoundApps } from './found-apps.js';
import type { Change } from './plan.rules.js';
import { invalid, type Problems, problemsIn } from './problems.js';
import { type AssumedProvider, isUnknownProvider, refused } from './providers-plan.js';

/** A change of an application, with its requests. */
export interface AppStep {
  readonly change: Change;
  readonly desired: DesiredApp;
  readonly current: CurrentApp | undefined;
}

/** The body that creates an application. */
export function draftOf({ name, handle, status, config }: DesiredApp): AppDraft {
  return { name, handle, status, config };
}

/** The stored application of a file, and how it was found. */
interface Match extends Pick<Found, 'how'> {
  readonly app: CurrentApp;
}

type Matches = ReadonlyMap<Placed<DesiredApp>, Match>;

/** The applications that were found, with their configurations. */
export async function matchesOf(api: Api, found: FoundApps, terminal: Pick<Terminal, 'tell'>): Promise<Matches> {
  const summaries = [...found.values()].map(({ summary }) => summary);
  const apps = new Map((await readApps(api, summaries, terminal)).map((app) => [app.id, app]));
  return new Map(
    [...found].flatMap(([placed, { summary, how }]) => {
      const app = apps.get(summary.id);
      return app === undefined ? [] : [[placed, { app, how }] as const];
    }),
  );
}

/** Providers that must exist before the applications. */
interface Ahead {
  readonly assumed: readonly AssumedProvider[];
  /** Whether one of them is refused itself. */
  readonly isIncomplete: boolean;
}

/** The changes of applications. @param problems collects the refusals of the service. */
export async function planApps(
  api: Api,
  placed: readonly Placed<DesiredApp>[],
  matches: Matches,
  { assumed, isIncomplete }: Ahead,
  terminal: Pick<Terminal, 'tell'>,
  problems: Problems,
): Promise<readonly AppStep[]> {
  const steps: AppStep[] = [];
  for (const [index, one] of placed.entries()) {
    terminal.tell(`Validating applications: ${index} of ${placed.length}`);
    const step = await problems.attempt(async () => {
      try {
        return await stepOf(api, one, matches.get(one), assumed);
      } catch (error) {
        // A refused provider is reported once, and not again for each application that names it.
        if (isIncomplete && error instanceof Failure && isUnknownProvider(error.message)) return undefined;
        for (const other of othersOf(error, one)) problems.add(other);
        throw error;
      }
    });
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

/** The service reports one problem of an application at a time: these are the others that its schema finds. */
function othersOf(error: unknown, { at, desired }: Placed<DesiredApp>): readonly Failure[] {
  const [told] = error instanceof Failure ? problemsIn(error.details) : [];
  if (told === undefined) return [];
  return appProblems(desired).flatMap(({ path, problem }) => {
    const place = at(path);
    return told.problem.startsWith(`${place.path}: `) ? [] : [invalid(place, problem)];
  });
}

const ACTIONS = { handle: 'update', moved: 'rename', name: 'adopt' } as const;

async function stepOf(
  api: Api,
  placed: Placed<DesiredApp>,
  match: Match | undefined,
  assumed: readonly AssumedProvider[],
): Promise<AppStep | undefined> {
  const { desired } = placed;
  const [current, how] = [match?.app, match?.how ?? 'handle'];
  const before = current === undefined ? {} : comparable(current, how);
  if (current !== undefined && differences(before, comparable(desired, how)).length === 0) return undefined;
  const config = await acceptedConfig(api, placed, current, how, assumed);
  const after = { ...desired, config };
  const fields = differences(before, comparable(after, how));
  if (current !== undefined && fields.length === 0) return undefined;
  const name = desired.handle;
  if (current === undefined) {
    const meaning = creationMeaning(after);
    return { change: { kind: 'app', action: 'create', name, id: null, fields, meaning }, desired, current };
  }
  const meaning = [...nameMeaning(current, how, name), ...meaningOf(current, after, current.users)];
  return { change: { kind: 'app', action: ACTIONS[how], name, id: current.id, fields, meaning }, desired, current };
}

/** What it means that an application gets a handle. */
function nameMeaning({ handle, id }: CurrentApp, how: Found['how'], name: string): readonly string[] {
  if (how === 'moved') return [`Scripts that name it ${handle} must name it ${name}; its id, keys and users stay.`];
  return how === 'name'
    ? [`The application ${id} has this name and no handle: it becomes ${name}, with its keys and users.`]
    : [];
}

/** The configuration as it would be stored. @throws Failure it is refused. */
async function acceptedConfig(
  api: Api,
  placed: Placed<DesiredApp>,
  current: CurrentApp | undefined,
  how: Found['how'],
  assumed: readonly AssumedProvider[],
): Promise<AppConfig> {
  const { desired } = placed;
  const query = { include: 'config' } as const;
  const extra = assumed.length === 0 ? {} : { assumed_providers: [...assumed] };
  const draft = draftOf(desired);
  try {
    if (current === undefined) {
      const body = { ...draft, ...extra };
      return (await read(api.POST('/v1/admin/apps/validate', { params: { query }, body }))).config ?? desired.config;
    }
    const { handle, ...others } = { ...draft, ...extra, revision: current.revision };
    const body = how === 'handle' ? others : { ...others, handle };
    const params = { path: { app: current.id }, query };
    return (await read(api.POST('/v1/admin/apps/{app}/validate', { params, body }))).config ?? desired.config;
  } catch (error) {
    throw refused(error, placed);
  }
}

/** The members that a file decides. A handle by which the application was found is not a difference. */
const comparable = ({ handle, name, status, config }: DesiredApp, how: Found['how']) => ({
  ...(how !== 'handle' && { handle }),
  ...{ name, status, config },
});
