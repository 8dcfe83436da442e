import { randomBytes } from 'node:crypto';
import type { CreationKind } from '../../../src/idempotency/creation.js';
import { rawServerConfig } from '../apps/app-configs.js';
import type { World } from '../world.js';

/** Where what a creation makes is stored. */
export const CREATED_TABLES: Readonly<Record<CreationKind, string>> = {
  app: 'apps',
  app_key: 'app_keys',
  provider: 'providers',
  provider_gateway: 'provider_gateways',
};

export const CREATION_KINDS = Object.keys(CREATED_TABLES) as readonly CreationKind[];

export interface TestCreation {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>> & { readonly name: string };
}

/** 32 random characters, as the headers of a creation require. */
export function randomToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Headers of a creation that may be sent again. */
export function idempotencyPair(): { 'idempotency-key': string; 'x-idempotency-proof': string } {
  return { 'idempotency-key': randomToken(), 'x-idempotency-proof': randomToken() };
}

/** A creation that nobody has asked for before. An application wants the providers `openai` and `openai-backup`. */
export async function newCreation(world: Pick<World, 'app'>, kind: CreationKind): Promise<TestCreation> {
  const name = `Made ${randomToken().slice(0, 8)}`;
  if (kind === 'app') return { path: '/v1/admin/apps', body: { name, config: rawServerConfig() } };
  if (kind === 'app_key') return { path: `/v1/admin/apps/${(await world.app()).id}/keys`, body: { name } };
  const slug = `s-${randomBytes(6).toString('hex')}`;
  if (kind === 'provider') {
    return { path: '/v1/admin/providers', body: { type: 'openai', name, slug, secret: 'sk-of-the-provider-1234' } };
  }
  return { path: '/v1/admin/provider-gateways', body: { type: 'vercel', name, token: 'token-of-the-gateway-1234' } };
}

/** How many rows have the name. */
export async function rowsNamed({ dataSource }: World, kind: CreationKind, name: string): Promise<number> {
  const sql = `SELECT count(*)::int AS rows FROM ${CREATED_TABLES[kind]} WHERE name = $1`;
  const [row] = await dataSource.query<{ rows: number }[]>(sql, [name]);
  return row?.rows ?? 0;
}
