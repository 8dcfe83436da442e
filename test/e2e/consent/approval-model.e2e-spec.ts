import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  type Approver,
  ConsentSubject,
  LoginSubject,
  type Send,
  type Subject,
  sendTo,
} from '../../proof/approvals/approval-model.js';
import { clientsFile } from '../../support/consent/oauth-client.js';
import { fuzzRuns } from '../../support/jest/fuzz-runs.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import { seeded } from '../../support/seeded.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const STEPS = fuzzRuns(200);
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
const STEPS_PER_KILL = 80;
/** Below the limit of steps of one operation in a minute. */
const MOST_STEPS = 7;
const ROUND_MS = Math.max(300_000, STEPS * 750);

let directory: string;
let databaseUrl: string;
let redis: Awaited<ReturnType<typeof reachRedis>>;
let database: pg.Pool;
let instances: GatewayProcess[];
let sends: Send[];
let origin: string;
const random = seeded(SEED);

const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const address = () => `203.0.113.${Math.floor(random() * 250) + 1}`;

async function newApprover(number: number): Promise<Approver> {
  const [first] = instances;
  const headers = { origin, 'x-console-request': '1', 'x-forwarded-for': `198.51.100.${number}` };
  const signedUp = await fetch(`${first?.baseUrl}/v1/auth/sign-up/email`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'A person', email: `p${number}@example.com`, password: 'correct horse battery' }),
  });
  const cookie = (signedUp.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const session = await pick(sends)('GET', '/v1/admin/session', { headers: { ...headers, cookie } });
  if (session === undefined) throw new Error('nobody answered');
  const { organization } = session.body.session as { organization: { id: string } };
  return { cookie, organizationId: organization.id };
}

describeWithRedis(`logins and consents over two instances with kills, seed ${SEED}`, () => {
  beforeAll(async () => {
    databaseUrl = await freshDatabase();
    redis = await reachRedis();
    directory = mkdtempSync(join(tmpdir(), 'gateway-approvals-'));
    database = new pg.Pool({ connectionString: databaseUrl, max: 4 });
    const ports = [await freePort(), await freePort()];
    origin = `http://127.0.0.1:${ports[0]}`;
    instances = ports.map((port) => {
      const settings = testEnvironment(databaseUrl, join(directory, String(port)), newManagementKey());
      return new GatewayProcess(`http://127.0.0.1:${port}`, {
        ...settings,
        ...{ REDIS_URL: redis.url, PUBLIC_URL: origin, ALLOW_ADDITIONAL_REGISTRATIONS: 'true', LOG_LEVEL: 'error' },
        ...{ OAUTH_CLIENTS_FILE: clientsFile(), TRUSTED_PROXIES: '127.0.0.1/32', BOOTSTRAP_MANAGEMENT_KEY: '' },
      });
    });
    sends = instances.map(({ baseUrl }) => sendTo(baseUrl, new URL(origin).host));
    for (const instance of instances) await instance.start();
  }, ROUND_MS);
  afterAll(async () => {
    for (const instance of instances) await instance.kill();
    await database.end();
    await redis.stop();
    await dropDatabase(databaseUrl);
    rmSync(directory, { recursive: true, force: true });
  }, ROUND_MS);

  /** Kills an instance while it answers, and starts it again. */
  async function killOne(): Promise<void> {
    const victim = pick(instances);
    await victim.kill();
    await victim.start();
  }

  it(
    `${STEPS} steps → every state ends once, and a key is handed over at most once and only to its terminal`,
    async () => {
      const approvers = [await newApprover(1), await newApprover(2), await newApprover(3)];
      const logins: LoginSubject[] = [];
      const consents: ConsentSubject[] = [];
      const open = async () => {
        const login = new LoginSubject(origin);
        const consent = new ConsentSubject(origin);
        await Promise.all([login.open(pick(sends), address()), consent.open(pick(sends), address())]);
        if (login.proof !== '') logins.push(login);
        if (consent.proof !== '') consents.push(consent);
      };
      const expire = async ({ table, id }: { table: string; id: string }) => {
        await database.query(
          `UPDATE ${table} SET expires_at = now() - interval '1 second' WHERE id = $1 AND state = 'pending'`,
          [id],
        );
      };
      const stepOf = (subject: Subject): Promise<void> => {
        const send = pick(sends);
        const somebody = random() < 0.8 ? pick(approvers) : undefined;
        if (subject instanceof ConsentSubject) {
          const step = pick(['allow', 'allow', 'deny', 'guest', 'exchange', 'exchange', 'expire'] as const);
          if (step === 'exchange') return subject.exchange(send);
          if (step === 'expire') return expire({ table: 'oauth_authorizations', id: subject.id });
          return subject.decide(send, step, somebody);
        }
        if (!(subject instanceof LoginSubject)) throw new Error('of neither kind');
        const step = pick(['submit', 'submit', 'wrong proof', 'deny', 'poll', 'poll', 'stranger', 'open', 'expire']);
        if (step === 'submit') return subject.submit(send, somebody);
        if (step === 'wrong proof') return subject.submit(send, somebody, 'x'.repeat(64));
        if (step === 'deny') return subject.deny(send);
        if (step === 'poll') return subject.poll(send);
        if (step === 'stranger') return subject.poll(send, 'y'.repeat(43));
        if (step === 'open') return subject.open(send, address());
        return expire({ table: 'cli_operations', id: subject.id });
      };
      for (let step = 0; step < STEPS; step++) {
        const live = [...logins.slice(-3), ...consents.slice(-3)].filter(({ steps }) => steps < MOST_STEPS);
        if (live.length < 3) await open();
        else {
          const subject = pick(live);
          // Two at once, on either instance, see the same result.
          const isRace = random() < 0.5;
          const kill = step % STEPS_PER_KILL === STEPS_PER_KILL - 1 ? killOne() : undefined;
          await Promise.all([stepOf(subject), ...(isRace ? [stepOf(subject)] : []), kill]);
        }
      }
      for (const login of logins) await login.poll(pick(sends));
      await verify(logins, consents, approvers);
    },
    ROUND_MS,
  );

  async function verify(
    logins: readonly LoginSubject[],
    consents: readonly ConsentSubject[],
    approvers: readonly Approver[],
  ): Promise<void> {
    const accounts = approvers.map(({ organizationId }) => organizationId);
    const { rows: keys } = await database.query(
      "SELECT o.id, o.state, k.organization_id AS account FROM cli_operations o LEFT JOIN management_keys k ON k.label = substr(o.id, 4, 37) WHERE o.kind = 'login'",
    );
    for (const login of logins) {
      const stored = keys.filter(({ id }) => id === login.id);
      expect(login.deliveries).toBeLessThanOrEqual(1);
      // One key for a completed login, and none for any other.
      expect(stored.map(({ account }) => account !== null)).toEqual([login.ends.has('completed')]);
      if (login.ends.has('completed')) expect(accounts).toContain(stored[0]?.account);
    }
    const { rows: connections } = await database.query(
      'SELECT a.id, a.state, k.id AS connection, k.organization_id AS account FROM oauth_authorizations a LEFT JOIN management_keys k ON k.id = a.connection_id',
    );
    for (const consent of consents) {
      const [stored] = connections.filter(({ id }) => id === consent.id);
      expect(consent.deliveries).toBeLessThanOrEqual(1);
      expect(stored?.connection !== null).toBe(stored?.state === 'completed');
      if (consent.ends.size > 0 && !consent.ends.has('expired')) expect([...consent.ends]).toEqual([stored?.state]);
      if (stored?.state === 'completed') expect(accounts).toContain(stored.account);
    }
    const { rows: all } = await database.query('SELECT source, count(*)::int AS count FROM management_keys GROUP BY 1');
    const completed = (rows: { state: string }[]) => rows.filter(({ state }) => state === 'completed').length;
    expect(Object.fromEntries(all.map(({ source, count }) => [source, count]))).toEqual({
      ...(completed(keys) > 0 ? { cli: completed(keys) } : {}),
      ...(completed(connections) > 0 ? { oauth: completed(connections) } : {}),
    });
    // The walk must reach every end state.
    const ends = new Set([...logins, ...consents].flatMap((subject) => [...subject.ends]));
    expect([...ends].sort()).toEqual(['completed', 'denied', 'expired']);
  }
});
