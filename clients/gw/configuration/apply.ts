import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { adviceOn } from '../api/advice.rules.js';
import { type Api, read } from '../api/client.js';
import { createOnce, isUnderWay } from '../api/creation.js';
import { type Session, sessionOf } from '../api/session.js';
import { createApp, keepingKey, saved } from '../apps/app-changes.js';
import type { Action } from '../program/command.js';
import { EXIT, Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { counted } from '../terminal/words.rules.js';
import { readAccount, readApp, summaryOf } from './account-state.js';
import { type AppStep, draftOf } from './apps-plan.js';
import type { DesiredApp } from './configuration-files.js';
import { type Directory, readDirectory } from './directory.js';
import { type Steps, stepsOf } from './plan.js';
import { type Change, doneText, type Plan, planColour, planText } from './plan.rules.js';
import { Problems } from './problems.js';
import { type ProviderStep, planProviders } from './providers-plan.js';

/** What has been done, for the result and for the message of an interruption. */
interface Done {
  readonly changes: Change[];
  readonly keyFiles: string[];
}

/** `gw apply` */
export const apply: Action = async (gw) => {
  const directory = readDirectory(gw.optionalArgument(0) ?? '.');
  const session = await sessionOf(gw);
  const done: Done = { changes: [], keyFiles: [] };
  await collectKeys(gw, session, directory, done);
  if (done.keyFiles.length > 0) gw.standing = `First keys of an earlier run are in ${done.keyFiles.join(', ')}.`;
  const steps = await stepsOf(gw, session, directory, gw.flag('prune'));
  requireComplete(gw, steps.plan);
  const count = steps.plan.changes.length;
  if (count > 0 && !gw.isJson) gw.terminal.print(planText(steps.plan), planColour);
  const removed = steps.removals.map(({ name }) => name).join(', ');
  const question = count === 1 ? 'Make this change?' : `Make these ${count} changes?`;
  if (removed !== '') await gw.confirm(`${question} To be removed: ${removed}.`);
  else if (count > 0 && gw.mayAsk) await gw.confirm(question);
  await carryOut(gw, session, steps, done);
  const keys = done.keyFiles.length === 0 ? '' : `\nFirst keys are in ${done.keyFiles.join(', ')}.`;
  const text =
    done.changes.length === 0
      ? `The account matches the directory.${keys}`
      : `${doneText(done.changes)}\nDone: ${counted(done.changes.length, 'change')}.${keys}`;
  return { colourOf: planColour, result: { applied: done.changes, keyFiles: done.keyFiles }, text };
};

/** @throws Failure something is missing that the changes need. */
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

const keyFileOf = (keyOutput: string, handle: string) => join(keyOutput, `${handle}.key`);

/** Makes the changes one by one. A failure leaves those before it made; the command can be run again. */
async function carryOut(gw: Invocation, session: Session, steps: Steps, done: Done): Promise<void> {
  const { api } = session;
  const all: readonly (readonly [Change, () => Promise<unknown>])[] = [
    ...steps.providers.map((step) => [step.change, () => applyProvider(gw, api, step)] as const),
    ...steps.apps.map((step) => [step.change, () => applyApp(gw, api, step, done)] as const),
    ...steps.removals.map((change) => [change, () => remove(api, change)] as const),
  ];
  gw.isInStep = true;
  for (const [change, make] of all) {
    gw.standing = `${done.changes.length} of ${all.length} changes were made; gw apply continues.`;
    gw.stopIfAsked();
    gw.terminal.tell(`${done.changes.length + 1} of ${all.length}: ${change.action} ${change.name}`);
    try {
      await make();
    } catch (error) {
      if (done.changes.length > 0 && !gw.isJson) gw.terminal.print(doneText(done.changes), planColour);
      throw stopped(error, change, done, all.length, gw.environment.managementKey !== undefined);
    }
    done.changes.push(change);
  }
  gw.isInStep = false;
}

function stopped(
  error: unknown,
  { action, kind, name }: Change,
  { changes }: Done,
  total: number,
  hasEnvironmentKey: boolean,
): unknown {
  if (!(error instanceof Failure)) return error;
  const made = changes.map((change) => ({ action: change.action, kind: change.kind, name: change.name }));
  const advice = error.nextAction ?? adviceOn(error, { command: 'apply', hasEnvironmentKey });
  const isRepeat = error.exitCode === EXIT.remote || advice === null;
  return new Failure(
    error.exitCode,
    error.code,
    `${action} ${name}: ${error.message} ${made.length} of ${total} changes were made.`,
    {
      nextAction: isRepeat ? 'Run gw apply again: it continues from here.' : advice,
      details: { ...error.details, failed: { action, kind, name }, made },
    },
  );
}

async function applyProvider(
  gw: Invocation,
  api: Api,
  { desired, current, assumed, secret }: ProviderStep,
): Promise<void> {
  const { name, status, baseUrl, gatewayRoute, pricing } = desired;
  if (current === undefined) {
    const body = { ...assumed, ...(secret !== undefined && { secret }) };
    await tolerating(
      'slug_taken',
      async () => {
        const { provider } = await createOnce(gw, { provider: assumed, secret }, (headers) =>
          read(api.POST('/v1/admin/providers', { body, headers })),
        );
        const path = { id: provider.id };
        if (status !== 'active')
          await read(api.PUT('/v1/admin/providers/{id}', { params: { path }, body: { status } }));
      },
      () => isProviderAsDesired(gw, api, desired),
    );
    return;
  }
  const body = {
    ...{ name, status, revision: current.revision },
    ...(pricing !== current.pricing && { pricing: pricing as NonNullable<typeof assumed.pricing> | null }),
    ...(baseUrl !== current.baseUrl && { baseUrl }),
    ...(!isDeepStrictEqual(gatewayRoute, current.gatewayRoute) && { gatewayRoute: gatewayRoute ?? {} }),
    ...(secret !== undefined && { secret }),
  };
  const params = { path: { id: current.id } };
  await tolerating(
    'conflict',
    () => read(api.PUT('/v1/admin/providers/{id}', { params, body })),
    () => isProviderAsDesired(gw, api, desired),
  );
}

async function applyApp(gw: Invocation, api: Api, { desired, current }: AppStep, done: Done): Promise<void> {
  if (current === undefined) {
    await tolerating(
      'handle_taken',
      async () => {
        const keyOutput = gw.text('keyOutput');
        const created = await createApp(
          gw,
          api,
          draftOf(desired),
          keyOutput === undefined ? undefined : `${keyOutput}${sep}`,
        );
        if (created.api_key !== null) done.keyFiles.push(created.api_key.key_file);
      },
      () => isAppAsDesired(api, desired),
    );
    return;
  }
  const { name, status, config } = desired;
  const body = { name, status, config, revision: current.revision };
  const params = { path: { app: current.id } };
  await tolerating(
    'app_revision_conflict',
    () => read(api.PUT('/v1/admin/apps/{app}', { params, body })),
    () => isAppAsDesired(api, desired),
  );
}

/** Answers of the gateway, not of a proxy, to a removal that somebody else has made. */
const GONE = new Set(['not_found', 'app_not_found']);

async function remove(api: Api, { kind, id }: Change): Promise<void> {
  const path = { id: id ?? '', app: id ?? '' };
  try {
    if (kind === 'provider') await read(api.DELETE('/v1/admin/providers/{id}', { params: { path } }));
    else await read(api.DELETE('/v1/admin/apps/{app}', { params: { path, query: { confirm: path.app } } }));
  } catch (error) {
    if (!(error instanceof Failure) || !GONE.has(error.code)) throw error;
  }
}

/** Somebody else may have made the same change in between: that is no conflict. */
async function tolerating(
  code: string,
  make: () => Promise<unknown>,
  isAsDesired: () => Promise<boolean>,
): Promise<void> {
  try {
    await make();
  } catch (error) {
    if (error instanceof Failure && error.code === code && (await isAsDesired())) return;
    throw error;
  }
}

async function isAppAsDesired(api: Api, desired: DesiredApp): Promise<boolean> {
  const summary = summaryOf(
    (await read(api.GET('/v1/admin/apps', { params: { query: { query: desired.handle } } }))).apps,
    desired.handle,
  );
  if (summary === undefined) return false;
  const stored = await readApp(api, summary);
  const params = { path: { app: stored.id }, query: { include: 'config' } } as const;
  const { name, status, config } = desired;
  const accepted = await read(api.POST('/v1/admin/apps/{app}/validate', { params, body: { name, config } }));
  return (
    stored.name === name &&
    stored.status === status &&
    JSON.stringify(stored.config) === JSON.stringify(accepted.config)
  );
}

async function isProviderAsDesired(gw: Invocation, api: Api, desired: ProviderStep['desired']): Promise<boolean> {
  const placed = { file: '', lineOf: () => 1, desired };
  const problems = new Problems();
  const { steps } = await planProviders(api, await readAccount(api), [placed], gw.environment, problems);
  return steps.length === 0 && problems.count === 0;
}

/**
 * Collects first keys of an earlier run whose answers were lost: the same creation, repeated, answers them. Where it does
 * not any more, the application gets another key, and the one that nobody has is revoked.
 */
async function collectKeys(gw: Invocation, { api }: Session, { apps }: Directory, done: Done): Promise<void> {
  const keyOutput = gw.text('keyOutput');
  if (keyOutput === undefined) return;
  for (const { desired } of apps) {
    const draft = draftOf(desired);
    if (!isUnderWay(gw, { app: draft }) || existsSync(keyFileOf(keyOutput, desired.handle))) continue;
    try {
      const created = await createApp(gw, api, draft, `${keyOutput}${sep}`);
      if (created.api_key !== null) done.keyFiles.push(created.api_key.key_file);
    } catch (error) {
      if (!(error instanceof Failure) || !LOST_KEYS.has(error.code)) throw error;
      done.keyFiles.push(await replaceKey(gw, api, desired.handle, `${keyOutput}${sep}`, error));
    }
  }
}

/** Codes of a creation that was made, and whose key cannot be shown any more. */
const LOST_KEYS = new Set(['resource_receipt_expired', 'resource_key_unavailable']);

async function replaceKey(
  gw: Invocation,
  api: Api,
  handle: string,
  keyOutput: string,
  lapsed: Failure,
): Promise<string> {
  const { appId, keyId } = Object(Object(lapsed.details).data);
  const path = { app: String(appId) };
  const body = { name: 'Default key' };
  const key = await keepingKey(keyOutput, handle, (file) =>
    createOnce(gw, { key: body, ...path }, async (headers) =>
      saved(file, await read(api.POST('/v1/admin/apps/{app}/keys', { params: { path }, body, headers })), handle),
    ),
  );
  if (typeof keyId === 'string')
    await read(api.POST('/v1/admin/apps/{app}/keys/{key}/revoke', { params: { path: { ...path, key: keyId } } }));
  return key.key_file;
}
