import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { startTcpProxy } from '../../support/platform/tcp-proxy.js';
import { startWorld } from '../../support/world.js';

const RECOVERY = { withinMs: 10_000 };
/** The query of the service for a first person. */
const QUERY = 'identities';

let ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

/** The document names no error of this route, so what is answered is read without it. */
interface Told {
  readonly status: number;
  /** Seconds. */
  readonly retryAfter: number;
  readonly body: { readonly registrationOpen?: boolean; readonly error?: { readonly code: string } };
}

/** The options of the console: while the database is unreachable, and once it is back. */
async function capabilities(env: Record<string, string>): Promise<{ lost: Told; again: Told }> {
  const databaseUrl = await freshDatabase();
  ends.push(() => dropDatabase(databaseUrl));
  const url = new URL(databaseUrl);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  ends.push(() => proxy.close());
  url.host = `127.0.0.1:${proxy.port}`;
  const world = await startWorld({ env: { ...env, DATABASE_URL: url.href } });
  ends.push(() => world.stop());
  const read = async (): Promise<Told> => {
    const answer = await fetch(`${world.baseUrl}/v1/console/capabilities`);
    const body = (await answer.json()) as Told['body'];
    return { status: answer.status, retryAfter: Number(answer.headers.get('retry-after')), body };
  };
  proxy.freeze();
  const asked = read();
  await Promise.race([asked, eventually(() => proxy.swallowed().includes(QUERY), { withinMs: 10_000 })]);
  proxy.thaw();
  const lost = await asked;
  await eventually(async () => (await read()).status === 200, RECOVERY);
  return { lost, again: await read() };
}

describe('the console while the database is lost', () => {
  it('unknown whether anybody has registered → 503 with Retry-After; afterwards the state is returned', async () => {
    const { lost, again } = await capabilities({});
    expect([lost.status, lost.body.error?.code]).toEqual([503, 'service_unavailable']);
    expect(lost.retryAfter).toBeGreaterThan(0);
    expect(again.body.registrationOpen).toBe(true);
  });

  it('registration is opened by the operator → also shown', async () => {
    const { lost } = await capabilities({ ALLOW_ADDITIONAL_REGISTRATIONS: 'true' });
    expect([lost.status, lost.body.registrationOpen]).toEqual([200, true]);
  });
});
