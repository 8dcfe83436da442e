import { type Api, read } from '../api/client.js';
import type { AppDraft } from '../apps/app-file.js';
import { Failure } from '../program/failure.js';
import type { Terminal } from '../terminal/terminal.js';
import { type AccountState, type CurrentApp, readApps, summaryOf } from './account-state.js';
import { creationMeaning, meaningOf } from './change-effects.rules.js';
import type { AppConfig, DesiredApp } from './configuration-files.js';
import { differences } from './difference.rules.js';
import type { Placed } from './directory.js';
import type { Change } from './plan.rules.js';
import { invalid, type Problems } from './problems.js';
import { type AssumedProvider, isUnknownProvider, refused } from './providers-plan.js';

/** A change of an application, with all that makes it. */
export interface AppStep {
  readonly change: Change;
  readonly desired: DesiredApp;
  readonly current: CurrentApp | undefined;
}

/** The body that creates an application. */
export function draftOf({ name, handle, status, config }: DesiredApp): AppDraft {
  return { name, handle, status, config };
}

/** The changes of applications. @param problems takes what the service refuses. */
export async function planApps(
  api: Api,
  state: AccountState,
  placed: readonly Placed<DesiredApp>[],
  assumed: readonly AssumedProvider[],
  terminal: Pick<Terminal, 'tell'>,
  problems: Problems,
): Promise<readonly AppStep[]> {
  const current = await currentOf(api, state, placed, terminal);
  const lacksProviders = problems.count > 0;
  const steps: AppStep[] = [];
  for (const [index, one] of placed.entries()) {
    terminal.tell(`Validating applications: ${index} of ${placed.length}`);
    const step = await problems.attempt(async () => {
      try {
        return await stepOf(api, one, current.get(one), assumed);
      } catch (error) {
        // A refused provider is reported once, and not again for each application that names it.
        if (lacksProviders && error instanceof Failure && isUnknownProvider(error.message)) return undefined;
        throw error;
      }
    });
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

/** The stored applications that files name. @throws Failure two files name one. */
async function currentOf(
  api: Api,
  { apps }: AccountState,
  placed: readonly Placed<DesiredApp>[],
  terminal: Pick<Terminal, 'tell'>,
): Promise<ReadonlyMap<Placed<DesiredApp>, CurrentApp>> {
  const summaries = placed.flatMap((one) => summaryOf(apps, one.desired.handle) ?? []);
  const stored = new Map((await readApps(api, [...new Set(summaries)], terminal)).map((app) => [app.id, app]));
  const owners = new Map<string, string>();
  const found = new Map<Placed<DesiredApp>, CurrentApp>();
  for (const one of placed) {
    const app = stored.get(summaryOf(apps, one.desired.handle)?.id ?? '');
    if (app === undefined) continue;
    const other = owners.get(app.id);
    if (other !== undefined)
      throw invalid(one.file, one.lineOf('handle'), `handle: ${other} names the same application`);
    owners.set(app.id, one.file);
    found.set(one, app);
  }
  return found;
}

async function stepOf(
  api: Api,
  placed: Placed<DesiredApp>,
  current: CurrentApp | undefined,
  assumed: readonly AssumedProvider[],
): Promise<AppStep | undefined> {
  const { desired } = placed;
  if (current !== undefined && differences(comparable(current), comparable(desired)).length === 0) return undefined;
  const config = await acceptedConfig(api, placed, current, assumed);
  const after = { ...desired, config };
  const fields = differences(current === undefined ? {} : comparable(current), comparable(after));
  if (current !== undefined && fields.length === 0) return undefined;
  const name = desired.handle;
  if (current === undefined) {
    const meaning = creationMeaning(after);
    return { change: { kind: 'app', action: 'create', name, id: null, fields, meaning }, desired, current };
  }
  const meaning = meaningOf(current, after, current.users);
  return { change: { kind: 'app', action: 'update', name, id: current.id, fields, meaning }, desired, current };
}

/** The configuration as it would be stored. @throws Failure it is refused. */
async function acceptedConfig(
  api: Api,
  placed: Placed<DesiredApp>,
  current: CurrentApp | undefined,
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
    const { handle: _kept, ...body } = { ...draft, ...extra, revision: current.revision };
    const params = { path: { app: current.id }, query };
    return (await read(api.POST('/v1/admin/apps/{app}/validate', { params, body }))).config ?? desired.config;
  } catch (error) {
    throw refused(error, placed);
  }
}

/** What a file decides: a handle is only read to find the application. */
const comparable = ({ name, status, config }: DesiredApp) => ({ name, status, config });
