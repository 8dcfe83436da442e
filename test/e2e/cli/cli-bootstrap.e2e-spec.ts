import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newOrganization, newPerson, type Person } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { ApprovalBrowser, proofIn, Terminal } from '../../support/cli/terminal.js';
import { FakeClock } from '../../support/clock.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;

const clock = new FakeClock();
let world: World;

beforeEach(async () => {
  world = await startWorld({ clock, env: { REDIS_URL: '', BOOTSTRAP_MANAGEMENT_KEY: '' } });
});
afterEach(() => world.stop());

const keyIn = ({ body }: { body: { result: { credential: { token: string } } } }) => body.result.credential.token;
const browserOf = ({ cookie }: Person) => new ApprovalBrowser(world, cookie);

/** Requests the claim of the account of a key. */
async function openClaim(key: string): Promise<{ terminal: Terminal; proof: string }> {
  const terminal = new Terminal(world);
  return { terminal, proof: proofIn(await terminal.operate(key, 'claim', {})) };
}

describe('POST /v1/cli/bootstrap', () => {
  it('an empty deployment → its first account, unclaimed, and a key that manages it', async () => {
    const terminal = new Terminal(world);
    const answer = await terminal.bootstrap();
    const accountId = answer.body.account.id;
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        ...{ id: terminal.id, kind: 'bootstrap', state: 'completed', expiresAt: expect.any(String) },
        deployment: expect.objectContaining({ id: accountId.replace('private-', '') }),
        result: {
          credential: { token: expect.stringMatching(/^gw_mgmt_[0-9A-Za-z]{48}$/) },
          ...{ unclaimedAccess: null, accountId },
        },
        account: expect.objectContaining({ name: 'My account', claimed: false, expiresAt: null }),
      },
    ]);
    const session = await world.as(keyIn(answer)).get('/v1/admin/session');
    expect(session.body.session).toMatchObject({
      ...{ role: 'owner', user: { id: `service-${accountId}`, name: 'CLI service', kind: 'service' } },
    });
    expect(codeOf(await terminal.poll())).toEqual([400, 'invalid_request']);
  });

  it('the same token → the same key for 15 minutes, then a new one that replaces it', async () => {
    const terminal = new Terminal(world);
    const first = keyIn(await terminal.bootstrap());
    const answers = await Promise.all(Array.from({ length: 4 }, () => terminal.bootstrap()));
    expect(answers.map(keyIn)).toEqual(Array(4).fill(first));
    clock.advance(15 * MINUTE_MS);
    const second = keyIn(await terminal.bootstrap());
    expect(second).not.toBe(first);
    expect((await world.as(first).get('/v1/admin/session')).status).toBe(401);
    expect((await world.as(second).get('/v1/admin/session')).status).toBe(200);
  });

  it('two terminals at once → one account', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => new Terminal(world).bootstrap()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const [{ count }] = await world.dataSource.query('SELECT count(*)::int AS count FROM organizations');
    expect(count).toBe(1);
  });

  it('the same token at once → one account, one key', async () => {
    const terminal = new Terminal(world);
    const answers = await Promise.all(Array.from({ length: 6 }, () => terminal.bootstrap()));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('a deployment with an account → 409', async () => {
    await newOrganization(world);
    expect(codeOf(await new Terminal(world).bootstrap())).toEqual([409, 'conflict']);
  });
});

describe('the claim of an account from a terminal', () => {
  it('a person without an account → becomes the owner; the terminal keeps its access', async () => {
    const opened = await new Terminal(world).bootstrap();
    const accountId = opened.body.account.id;
    const { terminal, proof } = await openClaim(keyIn(opened));
    const person = await newPerson(world, {});
    const browser = browserOf(person);
    expect((await browser.details(terminal.id, proof)).body).toMatchObject({
      kind: 'claim',
      account: { id: accountId },
      blockedBy: null,
    });
    const { status, body } = await browser.approve(terminal.id, proof);
    expect([status, body.continueTo]).toEqual([200, 'console']);
    expect((await browser.approve(terminal.id, proof)).body).toEqual(body);
    expect((await person.client.get('/v1/admin/session')).body.session).toMatchObject({
      ...{ role: 'owner', organization: { id: accountId, claimed: true } },
    });
    expect((await world.as(keyIn(opened)).get('/v1/admin/session')).body.session.role).toBe('admin');
    expect((await terminal.poll()).body).toMatchObject({ state: 'completed', account: { claimed: true } });
    const other = await newPerson(world, {});
    expect(codeOf(await browserOf(other).approve(terminal.id, proof))).toEqual([409, 'already_completed']);
  });

  it('a person of another account → 403 account_exists; the page says to sign out', async () => {
    const opened = await new Terminal(world).bootstrap();
    const { terminal, proof } = await openClaim(keyIn(opened));
    const { owner } = await newOrganization(world);
    const browser = browserOf(owner);
    expect((await browser.details(terminal.id, proof)).body.blockedBy).toBe('sign_out_required');
    expect(codeOf(await browser.approve(terminal.id, proof))).toEqual([403, 'account_exists']);
    expect((await terminal.poll()).body).toMatchObject({ state: 'pending', failure: { code: 'account_exists' } });
  });

  it('registering on the page → a person without an account, even if registration is closed', async () => {
    const opened = await new Terminal(world).bootstrap();
    await newPerson(world, {});
    const { terminal, proof } = await openClaim(keyIn(opened));
    const page = new ApprovalBrowser(world);
    expect((await page.details(terminal.id, proof)).body.blockedBy).toBe('registration_required');
    expect(codeOf(await page.approve(terminal.id, proof))).toEqual([401, 'session_required']);
    const newcomer = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };
    const closed = await world.with({ origin: world.consoleOrigin }).post('/v1/auth/sign-up/email', newcomer);
    expect(codeOf(closed)).toEqual([403, 'registration_disabled']);
    const registered = await page.post(`${terminal.id}/register`, { submissionToken: proof, ...newcomer });
    expect(registered.status).toBe(200);
    const cookie = registered.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const browser = new ApprovalBrowser(world, cookie);
    expect((await browser.approve(terminal.id, proof)).status).toBe(200);
    const session = await world.with({ cookie, 'x-console-request': '1' }).get('/v1/admin/session');
    expect(session.body.session.memberships).toEqual([
      expect.objectContaining({ role: 'owner', organization: expect.objectContaining({ id: opened.body.account.id }) }),
    ]);
  });

  it('after the claim → bootstrap is no longer possible, and another claim is 409', async () => {
    const terminal = new Terminal(world);
    const opened = await terminal.bootstrap();
    const claim = await openClaim(keyIn(opened));
    const person = await newPerson(world, {});
    await browserOf(person).approve(claim.terminal.id, claim.proof);
    expect(codeOf(await terminal.bootstrap())).toEqual([403, 'forbidden']);
    expect(codeOf(await new Terminal(world).operate(keyIn(opened), 'claim', {}))).toEqual([409, 'conflict']);
  });

  it('two people at once → one owner', async () => {
    const opened = await new Terminal(world).bootstrap();
    const claims = await Promise.all([openClaim(keyIn(opened)), openClaim(keyIn(opened))]);
    const people = await Promise.all([newPerson(world, {}), newPerson(world, {})]);
    const answers = await Promise.all(
      claims.map(({ terminal, proof }, at) => browserOf(people[at] as Person).approve(terminal.id, proof)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});
