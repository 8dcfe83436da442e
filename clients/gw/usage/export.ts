import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, apiOf, given, read } from '../api/client.js';
import { refusal } from '../api/refusal.rules.js';
import { sessionOf } from '../api/session.js';
import { appIdOf } from '../apps/apps.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { exactUsd } from '../terminal/amounts.rules.js';
import { facts } from '../terminal/table.js';
import { counted } from '../terminal/words.rules.js';
import { EXPORT_FORMATS, type ExportFormat } from './export-formats.js';
import { FileTarget, StreamTarget } from './export-target.js';

type Manifest = components['schemas']['UsageExportManifestResponse'];

/** The gateway reads the whole export before it answers. */
const MANIFEST_TIMEOUT_MS = 300_000;

/** What is exported, as the API takes it. */
interface Exported {
  /** Id of an application; undefined: the account. */
  readonly app: string | undefined;
  readonly query: { readonly format: ExportFormat; readonly since?: string; readonly until?: string };
}

/** `gw usage export` */
export const exportUsage: Action = async (gw) => {
  const output = gw.text('output');
  if (gw.isJson && output === undefined) {
    throw Failure.input('option_required', '--output is missing: with --json, standard output has the result.');
  }
  const { api, url, key } = await sessionOf(gw);
  const named = gw.text('app');
  const app = named === undefined ? undefined : await appIdOf(api, named);
  const format = gw.choice('format', EXPORT_FORMATS) ?? 'csv';
  const asked: Exported = { app, query: { format, ...given({ since: gw.text('since'), until: gw.text('until') }) } };
  const target =
    output === undefined
      ? new StreamTarget<Manifest>((bytes) => gw.terminal.writeBytes(bytes))
      : new FileTarget<Manifest>(output, JSON.stringify([url, gw.context.accountId, asked]));
  const begun = target.begun();
  gw.terminal.tell('Reading the manifest');
  const manifest = begun?.manifest ?? (await manifestOf(apiOf(url, key, MANIFEST_TIMEOUT_MS), asked));
  if (output !== undefined) gw.standing = 'Run the same command again to resume.';
  const { since, settled_until: until } = manifest;
  const fixed: Exported = { app, query: { format, since, until: until < since ? since : until } };
  for (let cursor = begun === undefined ? undefined : begun.cursor; cursor !== null; ) {
    const page = await pageOf(api, fixed, cursor);
    await target.add(page.bytes, { manifest, cursor: page.cursor });
    cursor = page.cursor;
    gw.terminal.tell(`Exporting ${counted(manifest.rows, 'event')}: ${target.bytes} bytes`);
  }
  if ((await target.sha256()) !== manifest.sha256) throw changed(target);
  target.finish();
  const result = { output: output ?? null, bytes: target.bytes, resumed: begun !== undefined, manifest };
  return output === undefined ? { result, text: '', note: noteOf(manifest) } : { result, ...shown(gw, manifest) };
};

async function manifestOf(api: Api, { app, query }: Exported): Promise<Manifest> {
  if (app === undefined) return read(api.GET('/v1/admin/usage/export/manifest', { params: { query } }));
  return read(api.GET('/v1/admin/apps/{app}/usage/export/manifest', { params: { path: { app }, query } }));
}

/** @param cursor undefined: the first page. @returns null as the cursor of the last one. */
async function pageOf(api: Api, { app, query: asked }: Exported, cursor: string | undefined) {
  const query = { ...asked, ...given({ cursor }) };
  const options = { parseAs: 'arrayBuffer' } as const;
  const { data, error, response } =
    app === undefined
      ? await api.GET('/v1/admin/usage/export', { params: { query }, ...options })
      : await api.GET('/v1/admin/apps/{app}/usage/export', { params: { path: { app }, query }, ...options });
  if (!response.ok) throw refusal(response, error);
  // An empty page has no data.
  const bytes = data === undefined ? new Uint8Array() : new Uint8Array(data);
  return { bytes, cursor: response.headers.get('x-next-cursor') };
}

function changed(target: { drop(): void }): Failure {
  target.drop();
  const nextAction = 'Run the command again.';
  const message = 'Events changed during the export: costs were corrected, or events were deleted.';
  return Failure.remote('export_changed', message, { nextAction });
}

function shown(gw: Invocation, manifest: Manifest) {
  const text = facts({
    ...{ File: gw.text('output') ?? '', Events: manifest.rows, Cost: exactUsd(manifest.sum_nano_usd / 1e9) },
    ...{ Since: manifest.since, Until: manifest.settled_until, 'SHA-256': manifest.sha256 },
  });
  return manifest.complete ? { text } : { text, note: noteOf(manifest) };
}

function noteOf({ rows, complete, settled_until: until }: Manifest): string {
  const exported = `Exported ${counted(rows, 'event')}.`;
  if (complete) return exported;
  return `${exported} The export is not complete: calls from ${until} on may still be open, or older ones were deleted.`;
}
