import { sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Api, read } from '../api/client.js';
import { createOnce } from '../api/creation.js';
import { createApp } from '../apps/app-changes.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { readAccount, readApp, summaryOf } from './account-state.js';
import { type AppStep, draftOf } from './apps-plan.js';
import type { DesiredApp } from './configuration-files.js';
import type { Change } from './plan.rules.js';
import { Problems } from './problems.js';
import { reachIn } from './provider-reach.js';
import { type ProviderStep, planProviders } from './providers-plan.js';

/** Creates or changes a provider. */
export async function applyProvider(
  gw: Invocation,
  api: Api,
  { desired, current, assumed, secret }: ProviderStep,
): Promise<void> {
  const { name, status, baseUrl, gatewayRoute, pricing } = desired;
  const key = secret?.read();
  if (current === undefined) {
    const body = { ...assumed, ...(key !== undefined && { secret: key }) };
    await tolerating(
      'slug_taken',
      async () => {
        const { provider } = await createOnce(gw, { provider: assumed, secret: key }, (headers) =>
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
    ...(key !== undefined && { secret: key }),
  };
  const params = { path: { id: current.id } };
  await tolerating(
    'conflict',
    () => read(api.PUT('/v1/admin/providers/{id}', { params, body })),
    () => isProviderAsDesired(gw, api, desired),
  );
}

/** As `applyProvider`. @param keyFiles collects the place of a first key. */
export async function applyApp(
  gw: Invocation,
  api: Api,
  { change, desired, current }: AppStep,
  keyFiles: string[],
): Promise<void> {
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
        if (created.api_key !== null) keyFiles.push(created.api_key.key_file);
      },
      () => isAppAsDesired(api, desired),
    );
    return;
  }
  const { handle, name, status, config } = desired;
  const body = {
    ...{ name, status, config, revision: current.revision },
    ...(change.action !== 'update' && { handle }),
  };
  const params = { path: { app: current.id } };
  await tolerating(
    'app_revision_conflict',
    () => read(api.PUT('/v1/admin/apps/{app}', { params, body })),
    () => isAppAsDesired(api, desired),
  );
}

/** Responses of the gateway, not of a proxy, to a removal that someone else made. */
const GONE = new Set(['not_found', 'app_not_found']);

/** Removes something that may already be gone. */
export async function remove(api: Api, { kind, id }: Change): Promise<void> {
  const path = { id: id ?? '', app: id ?? '' };
  try {
    if (kind === 'provider') await read(api.DELETE('/v1/admin/providers/{id}', { params: { path } }));
    else await read(api.DELETE('/v1/admin/apps/{app}', { params: { path, query: { confirm: path.app } } }));
  } catch (error) {
    if (!(error instanceof Failure) || !GONE.has(error.code)) throw error;
  }
}

/** Someone else may have made the same change in the meantime: that is not a conflict. */
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
  const placed = { at: (path: string) => ({ file: '', line: 1, path }), desired };
  const problems = new Problems();
  const state = await readAccount(api);
  const { steps } = await planProviders(api, state, [placed], gw.environment, reachIn(api, state), problems);
  return steps.length === 0 && problems.count === 0;
}
