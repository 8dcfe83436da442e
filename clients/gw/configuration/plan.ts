import { isOfStranger } from '../api/refusal.rules.js';
import type { Session } from '../api/session.js';
import { sessionOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { EXIT, Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { counted } from '../terminal/words.rules.js';
import { type AccountState, readAccount, summaryOf } from './account-state.js';
import { type AppStep, planApps } from './apps-plan.js';
import { type Directory, readDirectory } from './directory.js';
import { type Change, type Plan, planColour, planText } from './plan.rules.js';
import { Problems } from './problems.js';
import { nameOf, type ProviderStep, planProviders } from './providers-plan.js';

/** Comparisons of an account that changes meanwhile. */
const MOST_ATTEMPTS = 5;

/** What makes an account what a directory says: providers first, then applications, then removals. */
export interface Steps {
  readonly plan: Plan;
  readonly providers: readonly ProviderStep[];
  readonly apps: readonly AppStep[];
  readonly removals: readonly Change[];
}

/** `gw plan` */
export const plan: Action = async (gw) => {
  const directory = readDirectory(gw.optionalArgument(0) ?? '.');
  const steps = await stepsOf(gw, await sessionOf(gw), directory, gw.flag('prune'));
  const differs = gw.flag('check') && steps.plan.changes.length > 0;
  const exitCode = differs ? EXIT.difference : EXIT.ok;
  return { result: steps.plan, text: planText(steps.plan), colourOf: planColour, exitCode };
};

/** Compares a directory with an account; changes nothing. @throws Failure a file asks for what the service refuses. */
export async function stepsOf(
  gw: Pick<Invocation, 'environment' | 'terminal'>,
  session: Session,
  directory: Directory,
  prunes: boolean,
): Promise<Steps> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await compared(gw, session, directory, prunes);
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !hasMoved(error)) throw error;
    }
  }
}

/** Whether somebody else has changed the account while it was read. */
const hasMoved = (error: unknown) =>
  error instanceof Failure && !isOfStranger(error) && (error.status === 409 || error.status === 404);

async function compared(
  gw: Pick<Invocation, 'environment' | 'terminal'>,
  { api }: Session,
  directory: Directory,
  prunes: boolean,
): Promise<Steps> {
  gw.terminal.tell('Reading the account');
  const state = await readAccount(api);
  const problems = new Problems();
  const placed = directory.providers ?? [];
  const { steps: providers, missing } = await planProviders(api, state, placed, gw.environment, problems);
  const assumed = providers.map((step) => step.assumed);
  const apps = await planApps(api, state, directory.apps, assumed, gw.terminal, problems);
  problems.throwIfAny();
  const unowned = unownedOf(state, directory);
  const removals = prunes ? removalsOf(state, unowned) : [];
  const newKeys = apps.flatMap(({ change, desired }) =>
    change.action === 'create' && desired.config.authentication?.type === 'api_key' ? [desired.handle] : [],
  );
  const changes = [...providers.map(({ change }) => change), ...apps.map(({ change }) => change), ...removals];
  const left = prunes ? { apps: [], providers: [] } : unowned;
  return { plan: { changes, missing, unowned: left, newKeys }, providers, apps, removals };
}

/** What the account has and the directory does not. Without a file of providers it owns none. */
function unownedOf({ apps, providers }: AccountState, directory: Directory): Plan['unowned'] {
  const owned = new Set(directory.apps.map(({ desired }) => summaryOf(apps, desired.handle)?.id));
  const slugs = new Set(directory.providers?.map(({ desired }) => desired.slug));
  return {
    apps: apps.filter(({ id }) => !owned.has(id)).map(nameOf),
    providers:
      directory.providers === undefined ? [] : providers.map(({ slug }) => slug).filter((slug) => !slugs.has(slug)),
  };
}

function removalsOf({ apps, providers }: AccountState, unowned: Plan['unowned']): readonly Change[] {
  const removed = (kind: Change['kind'], name: string, id: string | undefined, meaning: readonly string[]): Change => ({
    ...{ kind, action: 'remove', name, id: id ?? null, fields: [], meaning },
  });
  return [
    ...unowned.apps.map((name) => {
      const app = summaryOf(apps, name);
      return removed('app', name, app?.id, [
        `Every caller loses access, and its keys and users are deleted (${counted(app?.users.total ?? 0, 'user')}).`,
      ]);
    }),
    ...unowned.providers.map((slug) => {
      const named = apps.filter(({ referenced_providers }) => referenced_providers.includes(slug)).map(nameOf);
      const where = named.length === 0 ? 'No application names it.' : `Calls of ${named.join(', ')} through it fail.`;
      return removed('provider', slug, providers.find((one) => one.slug === slug)?.id, [
        `Its key is deleted. ${where}`,
      ]);
    }),
  ];
}
