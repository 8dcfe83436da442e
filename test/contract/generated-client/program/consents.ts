import { createHash, randomBytes } from 'node:crypto';
import { bodyOf, type Clients } from './client.js';

/** The parameters with which a registered client sends the browser. */
const CLIENT = { client_id: 'desktop-client', redirect_uri: 'http://127.0.0.1:49152/callback' };

async function open({ baseUrl }: Clients): Promise<{ readonly id: string; readonly proof: string }> {
  const challenge = createHash('sha256').update(randomBytes(32).toString('base64url')).digest('base64url');
  const query = new URLSearchParams({
    ...{ ...CLIENT, response_type: 'code', resource: baseUrl },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
  });
  const { headers } = await fetch(`${baseUrl}/oauth/authorize?${query}`, { redirect: 'manual' });
  const page = new URL(headers.get('location') ?? '', baseUrl);
  return { id: page.searchParams.get('id') ?? '', proof: page.hash.slice(1) };
}

/** Allows one client, and denies another. */
export async function letClientsIn(clients: Clients, owner: readonly string[]): Promise<void> {
  const header = { Origin: clients.baseUrl };
  const person = clients.session(owner);
  const { id, proof } = await open(clients);
  const params = { path: { id }, header };
  const body = { submissionToken: proof };
  const { accounts } = await bodyOf(person.POST('/v1/console/oauth/{id}/details', { params, body }));
  const allowance = { ...body, organizationId: accounts[0]?.id ?? '', grant: 'read' } as const;
  const allowed = await bodyOf(person.POST('/v1/console/oauth/{id}/allow', { params, body: allowance }));
  // Repeats the first decision: the answer is the same.
  const again = await bodyOf(person.POST('/v1/console/oauth/{id}/guest', { params, body }));
  if (again.redirect !== allowed.redirect) throw new Error('a repeated decision answers another redirect');
  const other = await open(clients);
  await bodyOf(
    person.POST('/v1/console/oauth/{id}/deny', {
      params: { path: { id: other.id }, header },
      body: { submissionToken: other.proof },
    }),
  );
}
