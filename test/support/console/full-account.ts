import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { newOrganization, newPerson } from '../accounts/people.js';
import type { World } from '../world.js';
import { APPS } from './believable-apps.js';

const GENERATE_USAGE = fileURLToPath(new URL('../../../tools/bench/usage/generate-usage.mjs', import.meta.url));
/** The same usage each time; only the days move on. */
const USAGE = ['--days=90', '--events=20000', '--users=300', '--seed=0.25'];

const PEOPLE = { owner: 'Ada Lovelace', admin: 'Charles Babbage', member: 'Luigi Menabrea' } as const;

/** An account as a small company has it after some months. */
export interface FullAccount {
  /** Cookie of the owner's session. */
  readonly cookie: string;
  /** The application that is used most. */
  readonly appId: string;
  /** A webhook with deliveries of every kind. */
  readonly webhookId: string;
}

/** Fills an organization with providers, applications, people, keys and three months of usage. */
export async function fillAccount(world: World): Promise<FullAccount> {
  const { organizationId, owner } = await newOrganization(world);
  await world.dataSource.query("UPDATE organizations SET name = 'Analytical Engines' WHERE id = $1", [organizationId]);
  const create = async (path: string, body: object) => {
    const answer = await owner.client.post(`/v1/admin/${path}`, body);
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  for (const [type, name] of Object.entries({
    openai: 'OpenAI',
    anthropic: 'Anthropic',
    gemini: 'Gemini',
    xai: 'xAI',
  })) {
    await create('providers', { type, name, secret: `sk-of-the-${type}-of-a-picture` });
  }
  await create('provider-gateways', { type: 'vercel', name: 'Vercel', token: 'token-of-a-picture' });
  const appIds: string[] = [];
  for (const body of APPS) appIds.push((await create('apps', body)).app.id);
  await create('keys', { name: 'Terraform' });
  await create('invitations', { role: 'admin' });
  for (const [role, name] of Object.entries(PEOPLE) as [keyof typeof PEOPLE, string][]) {
    const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`;
    const { identityId } = role === 'owner' ? owner : await newPerson(world, { organizationId, role, email });
    await world.dataSource.query('UPDATE identities SET name = $2, email = $3 WHERE id = $1', [
      identityId,
      name,
      email,
    ]);
  }
  const webhookId = await addWebhooks(world, create);
  const of = [`--account=${organizationId}`, ...appIds.map((id) => `--app=${id}`)];
  const args = [GENERATE_USAGE, `--url=${world.databaseUrl}`, ...USAGE, ...of];
  const [code] = await once(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close');
  if (code !== 0) throw new Error(`generate-usage ended with ${code}`);
  return { cookie: owner.cookie, appId: appIds[0] ?? '', webhookId };
}

/** Two webhooks, of which nothing is sent. @returns the id of the one with deliveries. */
async function addWebhooks(
  world: World,
  create: (path: string, body: object) => Promise<{ readonly webhook: { readonly id: string } }>,
): Promise<string> {
  const host = 'https://hooks.example.com';
  await create('webhooks', { url: `${host}/audit`, name: 'Audit archive', enabled: false });
  const filter = { events: ['member.*', 'app_key.created'] };
  const { webhook } = await create('webhooks', { url: `${host}/on-call`, name: 'On-call', enabled: false, ...filter });
  await world.dataSource.query(ADD_DELIVERIES, [webhook.id]);
  await world.dataSource.query('UPDATE webhooks SET enabled = true WHERE id = $1', [webhook.id]);
  return webhook.id;
}

const ADD_DELIVERIES = `
  WITH sent(number, type, status, attempts, response_status, duration_ms, next) AS (VALUES
    (1, 'member.joined', 'delivered', 1, 204, 48, NULL::interval),
    (2, 'app_key.created', 'failed', 10, 500, 312, NULL),
    (3, 'member.role_changed', 'delivered', 2, 200, 61, NULL),
    (4, 'member.joined', 'disabled', 1, NULL, 15000, NULL),
    (5, 'app_key.created', 'pending', 3, 503, 27, interval '1 day')),
  event AS (
    INSERT INTO webhook_events (id, organization_id, type, subject, body, created_at)
    SELECT 'evt_of_a_picture_' || number, hook.organization_id, type, 'subject', '{}', now()
      FROM sent, webhooks hook WHERE hook.id = $1
    RETURNING id)
  INSERT INTO webhook_deliveries (webhook_id, event_id, status, attempts, response_status, duration_ms, created_at, next_attempt_at)
  SELECT $1, event.id, sent.status, attempts, response_status, duration_ms, now(), now() + next
    FROM sent JOIN event ON event.id = 'evt_of_a_picture_' || number ORDER BY number`;
