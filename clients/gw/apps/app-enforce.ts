import type { components } from '../../console/src/api/schema.d.ts';
import { given, read } from '../api/client.js';
import { sessionOf } from '../api/session.js';
import type { AppConfig } from '../configuration/configuration-files.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import { table } from '../terminal/table.js';
import { printable } from '../terminal/terminal.js';
import { appIdOf, changed } from './apps.js';

type Preview = components['schemas']['EnforcementPreviewResponse'];

const MOST_ROWS = 40;

/** `gw app enforce` */
export const enforce: Action = async (gw) => {
  const { api } = await sessionOf(gw);
  const path = { app: await appIdOf(api, gw.argument(0)) };
  const { app } = await read(api.GET('/v1/admin/apps/{app}', { params: { path } }));
  const { name, revision } = app;
  const config = app.config as AppConfig;
  const { authentication } = config;
  if (authentication.type !== 'device_proofs') {
    throw Failure.input('no_modes', 'Only proofs of the authentication "device_proofs" have modes.');
  }
  const preview = await read(
    api.POST('/v1/admin/apps/{app}/enforcement-preview', {
      params: { path },
      body: given({ days: gw.integer('days', { min: 1, max: 30 }) }),
    }),
  );
  const text = textOf(preview, gw.terminal.columns);
  if (gw.flag('dryRun')) return { result: preview, text };
  if (!gw.isJson) gw.terminal.print(text);
  await gw.confirm(`Refuse devices of ${name} whose proof fails?`);
  const proofs = Object.entries(authentication.proofs).map(([key, proof]) => [key, { ...proof, mode: 'enforce' }]);
  const enforced = { ...authentication, proofs: Object.fromEntries(proofs) as typeof authentication.proofs };
  const body = { name, config: { ...config, authentication: enforced }, revision };
  return changed(await read(api.PUT('/v1/admin/apps/{app}', { params: { path }, body })), `Changed ${name}.`);
};

function textOf({ attempts, would_reject: lost, users, by }: Preview, columns: number | undefined): string {
  const ofUsers = users === undefined ? '' : ` of ${users} known users`;
  const head = `${lost} of ${attempts} admitted attempts would be refused${ofUsers}.`;
  if (by.length === 0) return head;
  const rows = by
    .slice(0, MOST_ROWS)
    .map(({ day, proof, reason, app_version: version, attempts: count }) => [
      ...[day, proof ?? '-', reason, printable(version ?? '-'), String(count)],
    ]);
  const more = by.length > MOST_ROWS ? [`… and ${by.length - MOST_ROWS} more; --json has them.`] : [];
  return [head, table(['DAY', 'PROOF', 'REASON', 'VERSION', 'ATTEMPTS'], rows, columns), ...more].join('\n');
}
