import { isOfStranger } from '../api/refusal.rules.js';
import type { Session } from '../api/session.js';
import type { Action } from '../program/command.js';
import { EXIT, Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { counted } from '../terminal/words.rules.js';
import { type AccountState, readAccount, summaryOf } from './account-state.js';
import { type AppStep, matchesOf, planApps } from './apps-plan.js';
import { type Directory, readDirectory } from './directory.js';
import { type FoundApps, foundApps } from './found-apps.js';
import { type Change, type Plan, planColour, planText } from './plan.rules.js';
import { planMarkdown } from './plan-markdown.rules.js';
import { Problems } from './problems.js';
import { type ReachOf, reachIn } from './provider-reach.js';
import { lossText, placeText } from './provider-reach.rules.js';
import { nameOf, type ProviderStep, planProviders, replacedBy } from './providers-plan.js';
import { movesBetween, type Readings, readingsOf } from './readings.rules.js';
import { savePlan } from './saved-plan.js';
import { environmentName, sessionFor } from './target.js';

/** How often an account that changes meanwhile is compared. */
const MOST_ATTEMPTS = 5;

/** The changes that bring an account in line with a directory: providers first, then applications, then removals. */
export interface Steps {
  readonly plan: Plan;
  readonly providers: readonly ProviderStep[];
  readonly apps: readonly AppStep[];
  readonly removals: readonly Change[];
  /** The state of the account that was read. */
  readonly read: Readings;
}

/** `gw plan` */
export const plan: Action = async (gw) => {
  const isMarkdown = gw.text('format') === 'markdown';
  if (isMarkdown && gw.isJson) {
    throw Failure.input('invalid_option', '--format: not with --json, which has its own format.');
  }
  const directory = readDirectory(gw.optionalArgument(0) ?? '.', gw.text('env'));
  const { environment } = directory;
  const prunes = gw.flag('prune');
  const session = await sessionFor(gw, environment, environmentName(environment));
  const steps = await stepsOf(gw, session, directory, prunes);
  const savedPlan = gw.text('out') ?? null;
  if (savedPlan !== null) savePlan(savedPlan, { session, directory, prunes, steps });
  const differs = gw.flag('check') && steps.plan.changes.length > 0;
  const exitCode = differs ? EXIT.difference : EXIT.ok;
  const result = { ...steps.plan, environment: environment?.name ?? null, savedPlan };
  if (isMarkdown) return { result, text: planMarkdown(steps.plan, environment?.name), exitCode };
  const saved = savedPlan === null ? '' : `\nSaved. Apply exactly this: gw apply ${savedPlan}`;
  return { result, text: `${planText(steps.plan)}${saved}`, colourOf: planColour, exitCode };
};

/** Compares a directory with an account; changes nothing. @throws Failure if the service refuses a part of a file. */
export async function stepsOf(
  gw: Pick<Invocation, 'environment' | 'terminal'>,
  session: Session,
  directory: Directory,
  prunes: boolean,
  expected?: Readings,
): Promise<Steps> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await compared(gw, session, directory, prunes, expected);
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !hasMoved(error)) throw error;
    }
  }
}

/** @throws Failure if the account is not the one of the saved plan. */
export function requireUnmoved(moves: readonly string[]): void {
  if (moves.length === 0) return;
  throw Failure.state('plan_stale', `The account has changed since the plan was made: ${moves.join('; ')}.`, {
    ...{ nextAction: 'Make a new plan: gw plan <directory> --out <file>', details: { moves } },
  });
}

/** Whether someone else changed the account while it was read. */
const hasMoved = (error: unknown) =>
  error instanceof Failure && !isOfStranger(error) && (error.status === 409 || error.status === 404);

async function compared(
  gw: Pick<Invocation, 'environment' | 'terminal'>,
  { api }: Session,
  directory: Directory,
  prunes: boolean,
  expected: Readings | undefined,
): Promise<Steps> {
  gw.terminal.tell('Reading the account');
  const state = await readAccount(api);
  const problems = new Problems();
  const found = foundApps(state, directory.apps, problems);
  const matches = await matchesOf(api, found, gw.terminal);
  const read = readingsOf(
    state,
    [...matches.values()].map(({ app }) => app),
  );
  if (expected !== undefined) requireUnmoved(movesBetween(expected, read));
  const refusals = new Problems();
  const placed = directory.providers ?? [];
  const reachOf = reachIn(api, state);
  const { steps: providers, missing } = await planProviders(api, state, placed, gw.environment, reachOf, refusals);
  const assumed = providers.map((step) => step.assumed);
  const ahead = { assumed, isIncomplete: refusals.count > 0 };
  const apps = await planApps(api, directory.apps, matches, ahead, gw.terminal, refusals);
  problems.collect(() => refusals.throwIfAny());
  problems.throwIfAny();
  const unowned = unownedOf(state, directory, found);
  const replaced = placed.flatMap(({ desired }) => replacedBy(desired, state.providers).map(({ slug }) => slug));
  const removed = prunes ? unowned : { apps: [], providers: replaced };
  const removals = await removalsOf(state, removed, reachOf, replaced);
  const newKeys = apps.flatMap(({ change, desired }) =>
    change.action === 'create' && desired.config.authentication?.type === 'api_key' ? [desired.handle] : [],
  );
  const changes = [...providers.map(({ change }) => change), ...apps.map(({ change }) => change), ...removals];
  const left = prunes
    ? { apps: [], providers: [] }
    : { ...unowned, providers: unowned.providers.filter((slug) => !replaced.includes(slug)) };
  return { plan: { changes, missing, unowned: left, newKeys }, providers, apps, removals, read };
}

/** Objects of the account that the directory does not have. Without a file of providers it owns none. */
function unownedOf({ apps, providers }: AccountState, directory: Directory, found: FoundApps): Plan['unowned'] {
  const owned = new Set([...found.values()].map(({ summary }) => summary.id));
  const slugs = new Set(directory.providers?.map(({ desired }) => desired.slug));
  return {
    apps: apps.filter(({ id }) => !owned.has(id)).map(nameOf),
    providers:
      directory.providers === undefined ? [] : providers.map(({ slug }) => slug).filter((slug) => !slugs.has(slug)),
  };
}

async function removalsOf(
  { apps, providers }: AccountState,
  unowned: Plan['unowned'],
  reachOf: ReachOf,
  replaced: readonly string[],
): Promise<readonly Change[]> {
  const removed = (kind: Change['kind'], name: string, id: string | undefined, meaning: readonly string[]): Change => ({
    ...{ kind, action: 'remove', name, id: id ?? null, fields: [], meaning },
  });
  const removedApps = unowned.apps.map((name) => {
    const app = summaryOf(apps, name);
    return removed('app', name, app?.id, [
      `Every caller loses access, and its keys and users are deleted (${counted(app?.users.total ?? 0, 'user')}).`,
    ]);
  });
  const removedProviders = unowned.providers.map(async (slug) => {
    const { id } = providers.find((one) => one.slug === slug) ?? {};
    return removed('provider', slug, id, [
      `Its key is deleted. ${replaced.includes(slug) ? placeText(slug) : lossText(await reachOf(slug))}`,
    ]);
  });
  return [...removedApps, ...(await Promise.all(removedProviders))];
}
