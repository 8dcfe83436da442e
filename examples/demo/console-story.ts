import { fileURLToPath } from 'node:url';
import { APPS } from '../../test/support/console/believable-apps.js';
import { fact, heading, remark } from './screen.js';
import type { Demo } from './story.js';

const GENERATE_USAGE = fileURLToPath(new URL('../../tools/bench/usage/generate-usage.mjs', import.meta.url));
const PERSON = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'correct horse battery' };
const USAGE = { days: 90, events: 40_000, users: 400 };

/** Gives the account an owner, further applications and three months of usage. */
export async function fillConsole({ service, url, api }: Demo): Promise<void> {
  heading(`8. Fill the console: ${APPS.length} more applications, ${USAGE.days} days of usage`);
  const { session } = await api.get('session');
  const ids: string[] = [];
  for (const body of APPS) ids.push((await api.post('apps', body)).app.id);
  const sizes = Object.entries(USAGE).map(([name, size]) => `--${name}=${size}`);
  const of = [`--account=${session.organization.id}`, ...ids.map((id) => `--app=${id}`)];
  await service.run(GENERATE_USAGE, [`--data-dir=${service.dataDir}`, ...sizes, ...of]);
  await claim(url, service.managementKey);
  fact('Console', url);
  fact('E-mail', PERSON.email);
  fact('Password', PERSON.password);
  remark('The usage of these applications is made up; that of “Demo” is from the calls above.');
}

/** The first person claims the account that the management key opened. */
async function claim(url: string, bootstrapKey: string): Promise<void> {
  const answer = await fetch(`${url}/v1/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...PERSON, bootstrapKey }),
  });
  if (!answer.ok) throw new Error(`The owner could not register: ${answer.status} ${await answer.text()}`);
}
