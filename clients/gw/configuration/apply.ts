import { existsSync } from 'node:fs';
import { adviceOn, type Place } from '../api/advice.rules.js';
import type { Session } from '../api/session.js';
import type { Action } from '../program/command.js';
import { EXIT, Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { counted } from '../terminal/words.rules.js';
import { type Directory, readDirectory } from './directory.js';
import { collectKeys, keyFileOf } from './first-keys.js';
import { applyApp, applyProvider, remove } from './make-changes.js';
import { requireUnmoved, type Steps, stepsOf } from './plan.js';
import { type Change, doneText, openText, type Plan, planColour, planText } from './plan.rules.js';
import { isSavedPlan, readPlan, type SavedPlan, unplanned } from './saved-plan.js';
import { environmentName, sessionFor, type Target } from './target.js';

/** The changes made, for the result and for the message of an interruption. */
interface Done {
  readonly changes: Change[];
  readonly keyFiles: string[];
}

/** `gw apply` */
export const apply: Action = async (gw) => {
  const asked = askedOf(gw);
  const { directory, saved } = asked;
  const session = await sessionFor(gw, asked.target, asked.what);
  const done: Done = { changes: [], keyFiles: [] };
  await collectKeys(gw, session, directory, done.keyFiles);
  if (done.keyFiles.length > 0) gw.standing = `First keys of an earlier run are in ${done.keyFiles.join(', ')}.`;
  const steps = await stepsOf(gw, session, directory, asked.prunes, saved?.read);
  if (saved !== undefined) requireUnmoved(unplanned(saved.changes, steps.plan.changes));
  requireComplete(gw, steps.plan);
  const count = steps.plan.changes.length;
  if (count > 0 && !gw.isJson) gw.terminal.print(planText(steps.plan), planColour);
  const removed = steps.removals.map(({ name }) => name).join(', ');
  const question = count === 1 ? 'Make this change?' : `Make these ${count} changes?`;
  // A saved plan has already been approved.
  if (saved !== undefined) gw.terminal.tell('Applying the plan');
  else if (removed !== '') await gw.confirm(`${question} To be removed: ${removed}.`);
  else if (count > 0 && gw.mayAsk) await gw.confirm(question);
  await carryOut(gw, session, steps, done, saved === undefined ? GO_ON : PLAN_AGAIN);
  const keys = done.keyFiles.length === 0 ? '' : `\nFirst keys are in ${done.keyFiles.join(', ')}.`;
  const text =
    done.changes.length === 0
      ? `The account matches the ${saved === undefined ? 'directory' : 'plan'}.${keys}`
      : `${doneText(done.changes)}\nDone: ${counted(done.changes.length, 'change')}.${keys}`;
  return {
    colourOf: planColour,
    result: { applied: done.changes, keyFiles: done.keyFiles, environment: asked.environment },
    text,
  };
};

/** The plan to apply. */
interface Asked {
  readonly directory: Directory;
  readonly target: Target | undefined;
  /** As messages name it. */
  readonly what: string;
  readonly environment: string | null;
  readonly prunes: boolean;
  readonly saved: SavedPlan | undefined;
}

/** A directory in an environment, or a saved plan. */
function askedOf(gw: Invocation): Asked {
  const path = gw.optionalArgument(0) ?? '.';
  if (!isSavedPlan(path)) {
    const directory = readDirectory(path, gw.text('env'));
    const { environment } = directory;
    const named = { target: environment, what: environmentName(environment), environment: environment?.name ?? null };
    return { directory, ...named, prunes: gw.flag('prune'), saved: undefined };
  }
  if (gw.text('env') !== undefined || gw.flag('prune')) {
    const nextAction = 'Pass them to gw plan, with --out.';
    throw Failure.input('invalid_option', '--env, --prune: a saved plan already contains them.', { nextAction });
  }
  const saved = readPlan(path);
  const { directory, target, environment, prunes } = saved;
  return { directory, target, what: `The plan ${path}`, environment, prunes, saved };
}

/** What to do after a failure. */
const GO_ON = 'Run gw apply again: it continues from here.';
const PLAN_AGAIN = 'Make a new plan for the rest: gw plan <directory> --out <file>';

/** @throws Failure if something that the changes need is missing. */
function requireComplete(gw: Invocation, { missing, newKeys }: Plan): void {
  const keyOutput = gw.text('keyOutput');
  const all = [...missing];
  if (newKeys.length > 0 && keyOutput === undefined) {
    const problem = `First keys are created for ${newKeys.join(', ')}, and are never shown.`;
    all.push({ name: 'keys', problem, nextAction: 'Name their directory: --key-output <directory>' });
  }
  const paths = keyOutput === undefined ? [] : newKeys.map((handle) => [handle, keyFileOf(keyOutput, handle)] as const);
  for (const [name, path] of paths.filter(([, file]) => existsSync(file))) {
    all.push({ name, problem: `${path} exists; a key never replaces a file.`, nextAction: 'Move it away.' });
  }
  const [first] = all;
  if (first === undefined) return;
  const message = all.map(({ problem }) => problem).join(' ');
  throw Failure.input('plan_blocked', message, { nextAction: first.nextAction, details: { missing: all } });
}

/** Makes the changes one by one. A failure keeps the changes before it; the command can be run again. */
async function carryOut(gw: Invocation, session: Session, steps: Steps, done: Done, next: string): Promise<void> {
  const { api } = session;
  const all: readonly (readonly [Change, () => Promise<unknown>])[] = [
    ...steps.providers.map((step) => [step.change, () => applyProvider(gw, api, step)] as const),
    ...steps.apps.map((step) => [step.change, () => applyApp(gw, api, step, done.keyFiles)] as const),
    ...steps.removals.map((change) => [change, () => remove(api, change)] as const),
  ];
  const open = () => all.slice(done.changes.length).map(([change]) => change);
  gw.isInStep = true;
  gw.soFar = () => ({ ...traceOf(done, open()), colourOf: planColour });
  for (const [change, make] of all) {
    gw.standing = `${done.changes.length} of ${all.length} changes were made. ${next}`;
    gw.stopIfAsked();
    gw.terminal.tell(`${done.changes.length + 1} of ${all.length}: ${change.action} ${change.name}`);
    try {
      await make();
    } catch (error) {
      const trace = traceOf(done, open());
      if (!gw.isJson) gw.terminal.print(trace.text, planColour);
      const place = { command: 'apply', hasEnvironmentKey: gw.environment.managementKey !== undefined };
      throw stopped(error, change, trace.details, place, next);
    }
    done.changes.push(change);
  }
  gw.isInStep = false;
  gw.soFar = undefined;
}

/** The changes that were made and those that were not, for people and for programs. */
function traceOf({ changes: made, keyFiles }: Done, notMade: readonly Change[]) {
  const named = ({ action, kind, name }: Change) => ({ action, kind, name });
  return {
    text: [
      ...(made.length === 0 ? [] : [doneText(made)]),
      openText(notMade),
      ...(keyFiles.length === 0 ? [] : [`First keys are in ${keyFiles.join(', ')}.`]),
    ].join('\n'),
    details: { made: made.map(named), notMade: notMade.map(named), keyFiles },
  };
}

function stopped(
  error: unknown,
  { action, kind, name }: Change,
  trace: ReturnType<typeof traceOf>['details'],
  place: Place,
  next: string,
): unknown {
  if (!(error instanceof Failure)) return error;
  const advice = error.nextAction ?? adviceOn(error, place);
  const isRepeat = error.exitCode === EXIT.remote || advice === null;
  return new Failure(
    error.exitCode,
    error.code,
    `${action} ${name}: ${error.message} ${trace.made.length} of ${trace.made.length + trace.notMade.length} changes were made.`,
    {
      nextAction: isRepeat ? next : advice,
      details: { ...error.details, failed: { action, kind, name }, ...trace },
    },
  );
}
