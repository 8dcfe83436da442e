import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Session } from '../api/session.js';
import { Failure } from '../program/failure.js';
import { appFrom, providerFrom } from './desired.js';
import type { Directory } from './directory.js';
import { isTable } from './layers.rules.js';
import { Members, type PlaceOf, tableAt } from './members.js';
import type { Change, Plan } from './plan.rules.js';
import { invalid, type Place, Problems } from './problems.js';
import type { Readings } from './readings.rules.js';
import type { Target } from './target.js';

const FORMAT = 'gw plan';
const VERSION = 1;
const MAX_BYTES = 67_108_864;

/** A plan with all its inputs. */
export interface SavedPlan {
  readonly target: Target;
  readonly environment: string | null;
  readonly prunes: boolean;
  /** The state of the account. */
  readonly read: Readings;
  readonly directory: Directory;
  readonly changes: readonly Change[];
}

/** The inputs of a plan. */
interface Made {
  readonly session: Session;
  readonly directory: Directory;
  readonly prunes: boolean;
  readonly steps: { readonly plan: Plan; readonly read: Readings };
}

/**
 * Writes a plan atomically. It has no provider key, only the places of the keys. @throws Failure if it cannot be
 * written.
 */
export function savePlan(path: string, { session, directory, prunes, steps }: Made): void {
  const { url, capabilities, standing } = session;
  const { apps, providers, environment } = directory;
  const document = {
    ...{ format: FORMAT, version: VERSION, url, deploymentId: capabilities.deployment.id },
    ...{ accountId: standing.account.id, environment: environment?.name ?? null, prune: prunes, read: steps.read },
    apps: apps.map(({ desired }) => asInFile(desired)),
    providers: providers?.map(({ desired }) => asInFile(desired)) ?? null,
    changes: steps.plan.changes,
  };
  const draft = join(dirname(path), `.gw-${process.pid}.plan`);
  try {
    writeFileSync(draft, `${JSON.stringify(document, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    throw Failure.input('plan_unwritable', error instanceof Error ? error.message : String(error), {
      nextAction: 'Give --out a file in a folder that you can write to.',
    });
  } finally {
    rmSync(draft, { force: true });
  }
}

function asInFile<T extends { readonly movedFrom: readonly string[] }>({ movedFrom, ...described }: T): object {
  return { ...described, ...(movedFrom.length > 0 && { moved: { from: movedFrom } }) };
}

/** Whether a path is a file, and so a saved plan. */
export const isSavedPlan = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Reads a saved plan. @throws Failure if it is not one, or not of this version. */
export function readPlan(path: string): SavedPlan {
  const at: PlaceOf = (part) => ({ file: path, line: 1, path: part });
  const reader = new Members(at, tableAt(at, contentOf(path, at(''))));
  const members = ['format', 'version', 'url', 'deploymentId', 'accountId', 'environment', 'prune', 'read'];
  reader.allow([...members, 'apps', 'providers', 'changes']);
  if (reader.text('format') !== FORMAT) throw invalid(at(''), 'is not a plan of gw', MAKE_ONE);
  if (reader.value('version') !== VERSION) throw invalid(at('version'), 'was made by another version of gw', MAKE_ONE);
  const problems = new Problems();
  const listed = <T>(name: string, read: (value: unknown, place: PlaceOf) => T) =>
    reader.list(name).flatMap((value, index) => {
      const place: PlaceOf = (part) => at(part === '' ? `${name}.${index}` : `${name}.${index}.${part}`);
      return problems.collect(() => ({ at: place, desired: read(value, place) })) ?? [];
    });
  const plan = {
    target: {
      ...{ url: reader.text('url'), account: reader.text('accountId'), deploymentId: reader.text('deploymentId') },
    },
    ...{ environment: reader.optionalText('environment'), prunes: reader.value('prune') === true },
    read: reader.object('read') as Readings,
    directory: {
      apps: listed('apps', appFrom),
      providers: reader.has('providers') ? listed('providers', providerFrom) : undefined,
      environment: undefined,
    },
    changes: reader.list('changes') as readonly Change[],
  };
  problems.collect(() => reader.end());
  problems.throwIfAny();
  return plan;
}

const MAKE_ONE = 'Make one: gw plan <directory> --out <file>';

function contentOf(path: string, place: Place): unknown {
  if (statSync(path).size > MAX_BYTES) throw invalid(place, 'is larger than 64 MiB', MAKE_ONE);
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalid(place, 'is no JSON', MAKE_ONE);
  }
}

/** The differences from the plan, for the same account: one phrase per change. */
export function unplanned(planned: readonly Change[], now: readonly Change[]): readonly string[] {
  const part = (change: unknown) => {
    const { kind, action, name, id, fields } = Object(change);
    return JSON.parse(JSON.stringify({ kind, action, name, id, fields }));
  };
  const isIn = (changes: readonly Change[], change: Change) =>
    changes.some((other) => isDeepStrictEqual(part(other), part(change)));
  const text = (change: unknown) => (isTable(change) ? `${change.action} ${change.kind} ${change.name}` : 'a change');
  return [
    ...planned.filter((change) => !isIn(now, change)).map((change) => `${text(change)} is no longer needed`),
    ...now.filter((change) => !isIn(planned, change)).map((change) => `${text(change)} was not planned`),
  ];
}
