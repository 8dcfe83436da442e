import { readFileSync } from 'node:fs';
import type { components } from '../../console/src/api/schema.d.ts';
import { read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { listed } from '../program/lists.js';
import { toSecond } from '../terminal/amounts.rules.js';
import { appIdOf } from './apps.js';

type Credentials = components['schemas']['PutPlayCredentialsRequest'];

/** `gw app play-integrity show` */
export const show: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const result = await read(api.GET('/v1/admin/apps/{app}/play-integrity/credentials', { params: { path } }));
  const rows = result.credentials.map(({ kind, hint, updated_at }) => [kind, hint, toSecond(updated_at)]);
  const none = `No credentials are stored. Set them: gw app play-integrity set ${gw.argument(0)} --file <file>`;
  return listed(gw, result, { headings: ['KIND', 'HINT', 'SET'], rows, none });
};

/** `gw app play-integrity set` */
export const set: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const body = credentialsIn(gw.required('file'));
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const result = await read(api.PUT('/v1/admin/apps/{app}/play-integrity/credentials', { params: { path }, body }));
  const kind = body.service_account === undefined ? 'response keys' : 'service account';
  return { result, text: `Set the ${kind}. The next registration uses it; the file is no longer needed here.` };
};

/** `gw app play-integrity remove` */
export const remove: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const path = { app: await appIdOf(api, gw.argument(0)) };
  await gw.confirm('Delete the Play Integrity credentials? Phones without a key can no longer register with it.');
  const result = await read(api.DELETE('/v1/admin/apps/{app}/play-integrity/credentials', { params: { path } }));
  return { result, text: 'Deleted the credentials.' };
};

/**
 * The key file of a service account, or an object with the two response keys. @throws Failure it is not a JSON object.
 */
function credentialsIn(file: string): Credentials {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // The text of a syntax error quotes the file.
    const reason =
      error instanceof SyntaxError ? 'is not JSON' : error instanceof Error ? error.message : String(error);
    throw Failure.input('invalid_file', `${file}: ${reason}`);
  }
  if (typeof content !== 'object' || content === null) throw Failure.input('invalid_file', `${file}: is not an object`);
  const isPair = 'decryption_key' in content || 'verification_key' in content;
  // The gateway validates the members.
  return isPair ? (content as Credentials) : { service_account: { ...content } };
}
