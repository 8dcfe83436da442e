import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { type Api, read } from '../api/client.js';
import { createOnce, isUnderWay } from '../api/creation.js';
import type { Session } from '../api/session.js';
import { createApp, keepingKey, saved } from '../apps/app-changes.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { draftOf } from './apps-plan.js';
import type { Directory } from './directory.js';

/** The place of the first key of an application. */
export const keyFileOf = (keyOutput: string, handle: string) => join(keyOutput, `${handle}.key`);

/**
 * Collects first keys of an earlier run whose responses were lost: repeating the creation returns them. If it no longer
 * does, the application gets another key, and the lost one is revoked.
 */
export async function collectKeys(
  gw: Invocation,
  { api }: Session,
  { apps }: Directory,
  keyFiles: string[],
): Promise<void> {
  const keyOutput = gw.text('keyOutput');
  if (keyOutput === undefined) return;
  for (const { desired } of apps) {
    const draft = draftOf(desired);
    if (!isUnderWay(gw, { app: draft }) || existsSync(keyFileOf(keyOutput, desired.handle))) continue;
    try {
      const created = await createApp(gw, api, draft, `${keyOutput}${sep}`);
      if (created.api_key !== null) keyFiles.push(created.api_key.key_file);
    } catch (error) {
      if (!(error instanceof Failure) || !LOST_KEYS.has(error.code)) throw error;
      keyFiles.push(await replaceKey(gw, api, desired.handle, `${keyOutput}${sep}`, error));
    }
  }
}

/** Codes of a creation that succeeded but whose key can no longer be shown. */
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
