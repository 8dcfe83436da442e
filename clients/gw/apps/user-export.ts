import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { apiOf, unreachable } from '../api/client.js';
import { refusal } from '../api/refusal.rules.js';
import { sessionOf } from '../api/session.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { printable } from '../terminal/terminal.js';
import { counted } from '../terminal/words.rules.js';
import { appIdOf } from './apps.js';

/** Of a user with millions of calls. */
const TIMEOUT_MS = 600_000;
const END_OF_LINE = 10;

/** `gw app user export` */
export const exportUser: Action = async (gw) => {
  const output = gw.text('output');
  if (gw.isJson && output === undefined) {
    throw Failure.input('option_required', '--output is missing: with --json, standard output has the result.');
  }
  const { api, url, key } = await sessionOf(gw);
  const params = { path: { app: await appIdOf(api, gw.argument(0)) }, query: { user_id: gw.argument(1) } };
  const slow = apiOf(url, key, TIMEOUT_MS);
  const { data, error, response } = await slow.GET('/v1/admin/apps/{app}/user/export', { params, parseAs: 'stream' });
  if (data == null) throw refusal(response, error);
  let rows = 0;
  const counting = async (write: (bytes: Uint8Array) => Promise<void> | void) => {
    try {
      for await (const bytes of data) {
        for (const byte of bytes) if (byte === END_OF_LINE) rows++;
        await write(bytes);
      }
    } catch (thrown) {
      if (thrown instanceof TypeError) throw unreachable(url, thrown);
      throw thrown;
    }
  };
  if (output === undefined) await counting((bytes) => gw.terminal.writeBytes(bytes));
  else await toFile(output, counting);
  const text = `Exported ${counted(rows, 'row')} about ${printable(gw.argument(1))}.`;
  const result = { output: output ?? null, rows };
  return output === undefined ? { result, text: '', note: text } : { result, text };
};

/** The file appears when it is complete. */
async function toFile(output: string, write: (part: (bytes: Uint8Array) => void) => Promise<void>): Promise<void> {
  const part = `${output}.part`;
  const file = openSync(part, 'w', 0o600);
  try {
    await write((bytes) => {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    });
    renameSync(part, output);
  } finally {
    closeSync(file);
    rmSync(part, { force: true });
  }
}
