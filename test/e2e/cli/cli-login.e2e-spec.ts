import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { newOrganization, newPerson, newSession, type Person } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { ApprovalBrowser, proofIn, Terminal } from '../../support/cli/terminal.js';
import { FakeClock } from '../../support/clock.js';
import { trailOf } from '../../support/sign-in/console.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LOOPBACK = 'http://127.0.0.1:51234/callback';

const clock = new FakeClock();
let world: World;
let organizationId: string;
let owner: Person;
let browser: ApprovalBrowser;

beforeAll(async () => {
  world = await startWorld({ clock, env: { REDIS_URL: '', TRUSTED_PROXIES: '127.0.0.1/32' } });
});
beforeEach(async () => {
  // The next hour: the limit of an address starts again.
  clock.advance(HOUR_MS);
  ({ organizationId, owner } = await newOrganization(world));
  browser = new ApprovalBrowser(world, owner.cookie);
});
afterAll(() => world.stop());

/** A login that its owner has approved. */
async function approved(members: object = {}): Promise<{ terminal: Terminal; proof: string; redirectUrl?: string }> {
  const terminal = new Terminal(world);
  const proof = proofIn(await terminal.open(members));
  const { status, body } = await browser.approve(terminal.id, proof);
  expect(status).toBe(200);
  return { terminal, proof, redirectUrl: body.redirectUrl };
}

describe('POST /v1/cli/login', () => {
  it('a token → its login, with a link and a code that a person can type', async () => {
    const terminal = new Terminal(world);
    const { status, body, headers } = await terminal.open({ client: { label: ' My laptop ', os: 'linux' } });
    expect([status, body]).toEqual([
      200,
      {
        ...{ id: terminal.id, kind: 'login', state: 'pending' },
        url: expect.stringMatching(/^http:\/\/localhost:\d+\/cli\/approve\/op%3A[0-9a-f]{64}#[0-9a-f]{64}$/),
        userCode: expect.stringMatching(/^[A-HJKMNP-Z2-9]{4}-[A-HJKMNP-Z2-9]{4}$/),
        expiresAt: new Date(clock.nowMs() + 15 * MINUTE_MS).toISOString(),
      },
    ]);
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
  });

  it('the same token again → the same login, not counted and without a key', async () => {
    const terminal = new Terminal(world, '198.51.100.1');
    const first = await terminal.open();
    for (let at = 0; at < 25; at++) expect((await terminal.open()).body).toEqual(first.body);
    await browser.approve(terminal.id, proofIn(first));
    const { status, body } = await terminal.open();
    expect([status, body]).toEqual([200, { ...first.body, state: 'completed', url: null, userCode: null }]);
  });

  it('the same token many times at once → one login, counted once', async () => {
    const terminal = new Terminal(world, '198.51.100.2');
    const answers = await Promise.all(Array.from({ length: 20 }, () => terminal.open()));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    for (let at = 0; at < 9; at++) expect((await new Terminal(world, '198.51.100.2').open()).status).toBe(200);
    expect(codeOf(await new Terminal(world, '198.51.100.2').open())).toEqual([429, 'rate_limited']);
  });

  it.each([
    ['http://127.0.0.1:0/callback'],
    ['http://127.0.0.1:65536/callback'],
    ['http://127.0.0.1:080/callback'],
    ['http://127.0.0.1/callback'],
    ['http://localhost:8080/callback'],
    ['https://127.0.0.1:8080/callback'],
    ['http://127.0.0.1:8080/callback/'],
    ['http://127.0.0.1:8080/callback?a=1'],
    ['http://127.0.0.1:8080/callback#a'],
    ['http://127.0.0.1@evil.example:8080/callback'],
    ['http://127.0.0.1:8080@evil.example/callback'],
    ['http://[::1]:8080/callback'],
    ['HTTP://127.0.0.1:8080/callback'],
    ['http://127.0.0.1:8080/callback\n'],
    ['http://127.1:8080/callback'],
  ])('the listener %j → 400', async (loopbackRedirect) => {
    const { status, body } = await new Terminal(world).open({ loopbackRedirect });
    expect([status, body.error.message.split(':')[0]]).toEqual([400, 'loopbackRedirect']);
  });

  it.each([
    [{ token: 'short' }, 'token'],
    [{ client: {} }, 'client.label'],
    [{ client: { label: ' ' } }, 'client.label'],
    [{ client: { label: 'x'.repeat(201) } }, 'client.label'],
    [{ client: { label: 'x', os: 'y'.repeat(65) } }, 'client.os'],
    [{ client: { label: 'x', more: 1 } }, 'client.more'],
    [{ client: 'laptop' }, 'client'],
    [{ label: 'x' }, 'label'],
  ])('%j → 400 that names the member', async (members, path) => {
    const { status, body } = await new Terminal(world).open(members);
    expect([status, body.error.message.split(':')[0]]).toEqual([400, path]);
  });

  it('a body of more than 64 KiB → 413 invalid_request', async () => {
    expect(codeOf(await new Terminal(world).open({ client: { label: 'x'.repeat(70_000) } }))).toEqual([
      413,
      'invalid_request',
    ]);
  });

  it('the eleventh pending login from an address → 429; after one is declined → 200', async () => {
    const opened = [];
    for (let at = 0; at < 10; at++) {
      const terminal = new Terminal(world, '198.51.100.3');
      opened.push({ terminal, proof: proofIn(await terminal.open()) });
    }
    const refused = await new Terminal(world, '198.51.100.3').open();
    expect([...codeOf(refused), Number(refused.headers.get('retry-after')) > 0]).toEqual([429, 'rate_limited', true]);
    expect((await new Terminal(world, '198.51.100.4').open()).status).toBe(200);
    await browser.deny(opened[0]?.terminal.id ?? '', opened[0]?.proof ?? '');
    expect((await new Terminal(world, '198.51.100.3').open()).status).toBe(200);
  });

  it('the twenty-first login from an address in an hour → 429 with exact data', async () => {
    for (let at = 0; at < 20; at++) {
      const terminal = new Terminal(world, '198.51.100.5');
      const proof = proofIn(await terminal.open());
      if (at < 19) await browser.deny(terminal.id, proof);
    }
    const { status, body } = await new Terminal(world, '198.51.100.5').open();
    expect([status, body.error.code, body.error.data]).toEqual([
      429,
      'rate_limited',
      expect.objectContaining({ scope: 'login', limit: 20, windowSeconds: 3600 }),
    ]);
  });
});

describe('approval of a login', () => {
  it('details → the requester, the signed-in person and their accounts; nothing changes', async () => {
    const terminal = new Terminal(world, '203.0.113.9');
    const opened = await terminal.open({ client: { label: '<b>Mine</b>', os: 'macOS' }, loopbackRedirect: LOOPBACK });
    const { status, body } = await browser.details(terminal.id, proofIn(opened));
    expect([status, body]).toEqual([
      200,
      {
        ...{ kind: 'login', payload: {}, account: null, blockedBy: null, googleEnabled: false },
        viewer: { name: 'A person', email: owner.email },
        expiresAt: opened.body.expiresAt,
        userCode: opened.body.userCode,
        client: { label: '<b>Mine</b>', os: 'macOS', ip: '203.0.113.9', requestedAt: clock.now().toISOString() },
        hasLoopbackRedirect: true,
        organizations: [{ id: organizationId, name: 'Theirs', role: 'owner' }],
      },
    ]);
    expect((await terminal.poll()).body.state).toBe('pending');
  });

  it('nobody signed in → details say so; submit is 401 session_required', async () => {
    const terminal = new Terminal(world);
    const proof = proofIn(await terminal.open());
    const nobody = new ApprovalBrowser(world);
    expect((await nobody.details(terminal.id, proof)).body).toMatchObject({
      viewer: null,
      blockedBy: 'registration_required',
    });
    expect(codeOf(await nobody.approve(terminal.id, proof))).toEqual([401, 'session_required']);
  });

  it('a person without an account → 403 no_eligible_organization', async () => {
    const terminal = new Terminal(world);
    const proof = proofIn(await terminal.open());
    const lonely = new ApprovalBrowser(world, (await newPerson(world, {})).cookie);
    expect((await lonely.details(terminal.id, proof)).body.blockedBy).toBe('no_eligible_organization');
    expect(codeOf(await lonely.approve(terminal.id, proof))).toEqual([403, 'no_eligible_organization']);
  });

  it('several accounts → one must be chosen, and it must be one of theirs', async () => {
    const other = await newOrganization(world);
    await world.dataSource.query('INSERT INTO memberships VALUES ($1, $2, $3, now())', [
      other.organizationId,
      owner.identityId,
      'member',
    ]);
    const terminal = new Terminal(world);
    const proof = proofIn(await terminal.open());
    expect(codeOf(await browser.approve(terminal.id, proof))).toEqual([400, 'invalid_request']);
    const foreign = await newOrganization(world);
    expect(codeOf(await browser.approve(terminal.id, proof, { organizationId: foreign.organizationId }))).toEqual([
      403,
      'not_a_member',
    ]);
    expect((await browser.approve(terminal.id, proof, { organizationId: other.organizationId })).status).toBe(200);
    const { body } = await terminal.poll();
    const session = await world.as(body.result.credential.token).get('/v1/admin/session');
    expect(session.body.session).toMatchObject({ role: 'member', organization: { id: other.organizationId } });
  });

  it('approve: false → 400', async () => {
    const terminal = new Terminal(world);
    const proof = proofIn(await terminal.open());
    const answer = await browser.post(`${terminal.id}/submit`, { submissionToken: proof, approve: false });
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
  });

  it('the user code instead of the proof → accepted, in any case and with blanks', async () => {
    const terminal = new Terminal(world);
    const { body } = await terminal.open();
    const typed = ` ${body.userCode.toLowerCase().replace('-', ' ')} `;
    expect((await browser.lookup(typed)).body).toEqual({
      found: true,
      ...{ id: terminal.id, kind: 'login', expiresAt: body.expiresAt },
    });
    expect((await browser.details(terminal.id, body.userCode)).status).toBe(200);
    expect((await browser.approve(terminal.id, body.userCode)).status).toBe(200);
    expect((await browser.lookup(typed)).body).toEqual({ found: false });
  });

  it('a wrong proof, or the proof or code of another login → 403 forbidden', async () => {
    const terminal = new Terminal(world);
    await terminal.open();
    const other = new Terminal(world);
    const opened = await other.open();
    for (const wrong of ['a'.repeat(64), proofIn(opened), opened.body.userCode, 'x', terminal.token]) {
      expect(codeOf(await browser.details(terminal.id, wrong))).toEqual([403, 'forbidden']);
      expect(codeOf(await browser.approve(terminal.id, wrong))).toEqual([403, 'forbidden']);
      expect(codeOf(await browser.deny(terminal.id, wrong))).toEqual([403, 'forbidden']);
    }
    expect(codeOf(await browser.details(`op:${'0'.repeat(64)}`, 'a'.repeat(64)))).toEqual([404, 'not_found']);
  });

  it('the eleventh step of one login within a minute → 429; wrong proofs are not counted', async () => {
    const terminal = new Terminal(world);
    const proof = proofIn(await terminal.open());
    for (let at = 0; at < 12; at++) await browser.details(terminal.id, 'a'.repeat(64));
    for (let at = 0; at < 10; at++) expect((await browser.details(terminal.id, proof)).status).toBe(200);
    expect(codeOf(await browser.details(terminal.id, proof))).toEqual([429, 'rate_limited']);
    clock.advance(MINUTE_MS);
    expect((await browser.details(terminal.id, proof)).status).toBe(200);
  });

  it('a foreign, an absent or a null origin → 403; another host → 404', async () => {
    const terminal = new Terminal(world);
    const submissionToken = proofIn(await terminal.open());
    for (const origin of ['https://evil.example', 'null']) {
      const answer = await browser.post(`${terminal.id}/details`, { submissionToken }, { origin });
      expect(codeOf(answer)).toEqual([403, 'forbidden']);
    }
    const withoutOrigin = await world.as(undefined).post(`/v1/cli/browser/${terminal.id}/details`, { submissionToken });
    expect(codeOf(withoutOrigin)).toEqual([403, 'forbidden']);
  });
});

describe('the key of a login', () => {
  it('approved → only the first poll returns it; it has the role of the approver', async () => {
    const { terminal } = await approved();
    const { status, body } = await terminal.poll();
    expect([status, body]).toEqual([
      200,
      {
        ...{ id: terminal.id, kind: 'login', state: 'completed', expiresAt: expect.any(String) },
        deployment: {
          ...{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), mode: 'self_hosted' },
          ...{ apiUrl: expect.any(String), consoleOrigin: expect.any(String) },
        },
        result: {
          credential: { token: expect.stringMatching(/^gw_mgmt_[0-9A-Za-z]{48}$/) },
          accountId: organizationId,
        },
        account: expect.objectContaining({ id: organizationId, name: 'Theirs', claimed: true }),
      },
    ]);
    const again = await terminal.poll();
    expect(again.body.result).toEqual({ accountId: organizationId });
    const session = await world.as(body.result.credential.token).get('/v1/admin/session');
    expect(session.body.session).toMatchObject({ role: 'owner', user: { id: owner.identityId } });
    const { body: listed } = await owner.client.get('/v1/admin/keys');
    expect(listed.keys).toEqual([expect.objectContaining({ name: 'A laptop', label: 'A laptop', source: 'cli' })]);
  });

  it('concurrent polls → exactly one returns it', async () => {
    const { terminal } = await approved();
    const answers = await Promise.all(Array.from({ length: 10 }, () => terminal.poll()));
    expect(answers.filter(({ body }) => body.result.credential !== undefined)).toHaveLength(1);
  });

  it('a poll → one statement', async () => {
    const terminal = new Terminal(world);
    await terminal.open();
    await terminal.poll();
    let asked = 0;
    const { query } = pg.Client.prototype;
    const spy = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...of: never[]) {
      if (JSON.stringify(of).includes('cli_operations')) asked++;
      return Reflect.apply(query, this, of);
    } as typeof query);
    await terminal.poll();
    spy.mockRestore();
    expect(asked).toBe(1);
  });

  it('another token, or none → 403, whether or not the operation exists', async () => {
    const { terminal } = await approved();
    const other = new Terminal(world);
    expect(codeOf(await terminal.poll(other.token))).toEqual([403, 'forbidden']);
    expect(codeOf(await world.as(undefined).get(`/v1/cli/operations/${terminal.id}`))).toEqual([403, 'forbidden']);
    expect(codeOf(await world.as(other.token).get(`/v1/cli/operations/op:${'0'.repeat(64)}`))).toEqual([
      403,
      'forbidden',
    ]);
    expect(codeOf(await other.poll())).toEqual([404, 'not_found']);
    expect((await terminal.poll()).body.result.credential).toBeDefined();
  });

  it('with a listener → only by its one-time code, once', async () => {
    const { terminal, proof, redirectUrl = '' } = await approved({ loopbackRedirect: LOOPBACK });
    expect(redirectUrl).toMatch(/^http:\/\/127\.0\.0\.1:51234\/callback\?code=[0-9A-Za-z]{48}$/);
    expect((await browser.approve(terminal.id, proof)).body.redirectUrl).toBe(redirectUrl);
    expect((await terminal.poll()).body.result).toEqual({ accountId: organizationId });
    const code = new URL(redirectUrl).searchParams.get('code') ?? '';
    expect(codeOf(await terminal.redeem('a'.repeat(48)))).toEqual([403, 'forbidden']);
    expect(codeOf(await terminal.redeem(code, new Terminal(world).token))).toEqual([403, 'forbidden']);
    const answers = await Promise.all(Array.from({ length: 5 }, () => terminal.redeem(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    const winner = answers.find(({ status }) => status === 200);
    expect(winner?.body).toEqual({
      credential: { token: expect.stringMatching(/^gw_mgmt_/) },
      account: expect.objectContaining({ id: organizationId }),
    });
    expect(codeOf(await terminal.redeem(code))).toEqual([409, 'already_completed']);
  });

  it('redeem before the approval → 409 operation_pending; after a refusal → 409; expired → 410', async () => {
    const pending = new Terminal(world);
    const proof = proofIn(await pending.open({ loopbackRedirect: LOOPBACK }));
    expect(codeOf(await pending.redeem('a'.repeat(48)))).toEqual([409, 'operation_pending']);
    await browser.deny(pending.id, proof);
    expect(codeOf(await pending.redeem('a'.repeat(48)))).toEqual([409, 'operation_denied']);
    const late = new Terminal(world);
    await late.open({ loopbackRedirect: LOOPBACK });
    clock.advance(15 * MINUTE_MS);
    expect(codeOf(await late.redeem('a'.repeat(48)))).toEqual([410, 'operation_expired']);
  });

  it('revoked before it is collected → polls answer expired, redeem 410', async () => {
    const { terminal } = await approved();
    const { terminal: listening, redirectUrl = '' } = await approved({ loopbackRedirect: LOOPBACK });
    const { body } = await owner.client.get('/v1/admin/keys');
    for (const { id } of body.keys) await owner.client.post(`/v1/admin/keys/${id}/revoke`);
    expect((await terminal.poll()).body).toMatchObject({ state: 'expired' });
    const code = new URL(redirectUrl).searchParams.get('code') ?? '';
    expect(codeOf(await listening.redeem(code))).toEqual([410, 'operation_expired']);
  });

  it('not collected within 15 minutes → no longer handed over', async () => {
    const { terminal } = await approved();
    clock.advance(15 * MINUTE_MS);
    expect((await terminal.poll()).body.result).toEqual({ accountId: organizationId });
  });

  it('stored row → contains neither token, key, proof nor code', async () => {
    const terminal = new Terminal(world);
    const opened = await terminal.open({ loopbackRedirect: LOOPBACK });
    const { body } = await browser.approve(terminal.id, proofIn(opened));
    const code = new URL(body.redirectUrl).searchParams.get('code') ?? '';
    const [{ text }] = await world.dataSource.query('SELECT o::text AS text FROM cli_operations o WHERE id = $1', [
      terminal.id,
    ]);
    const { body: redeemed } = await terminal.redeem(code);
    const secrets = [
      terminal.token,
      proofIn(opened),
      opened.body.userCode,
      opened.body.userCode.replace('-', ''),
      code,
    ];
    for (const secret of [...secrets, redeemed.credential.token]) expect(text).not.toContain(secret);
    expect(JSON.stringify(world.logs)).not.toContain(terminal.token);
  });
});

describe('the end of a login', () => {
  it('declined by anybody with the link → expired and denied for the terminal, permanently', async () => {
    const terminal = new Terminal(world);
    const proof = proofIn(await terminal.open());
    const nobody = new ApprovalBrowser(world);
    for (let at = 0; at < 2; at++) {
      const { status, body } = await nobody.deny(terminal.id, proof);
      expect([status, body]).toEqual([200, { state: 'denied', message: expect.any(String) }]);
    }
    expect((await terminal.poll()).body).toMatchObject({ state: 'expired', denied: true });
    expect((await terminal.open()).body).toMatchObject({ state: 'denied', url: null, userCode: null });
    expect(codeOf(await browser.approve(terminal.id, proof))).toEqual([409, 'operation_denied']);
    expect(codeOf(await browser.details(terminal.id, proof))).toEqual([409, 'operation_denied']);
  });

  it('approved again, declined again → one log line each, and none says that a key was collected', async () => {
    const { terminal, proof } = await approved();
    expect((await browser.approve(terminal.id, proof)).status).toBe(200);
    const declined = new Terminal(world);
    const opened = await declined.open();
    for (let at = 0; at < 2; at++) expect((await browser.deny(declined.id, proofIn(opened))).status).toBe(200);
    const linesOf = (id: string) =>
      world.logs.filter(({ operation }) => operation === id).map(({ message }) => message);
    expect(linesOf(terminal.id)).toEqual(['cli_login_opened', 'cli_login_approved']);
    expect(linesOf(declined.id)).toEqual(['cli_login_opened', 'cli_operation_denied']);
  });

  it('opened, approved, collected → a log line each; declined by a signed-in person → in the audit trail', async () => {
    const { terminal } = await approved();
    await terminal.poll();
    await terminal.poll();
    const ofLogin = world.logs.filter(({ operation }) => operation === terminal.id).map(({ message }) => message);
    expect(ofLogin).toEqual(['cli_login_opened', 'cli_login_approved', 'cli_login_collected']);
    const declined = new Terminal(world);
    await browser.deny(declined.id, proofIn(await declined.open()));
    const trail = await trailOf(world, organizationId);
    expect(trail.filter((action) => action !== 'session.opened')).toEqual([
      'management_key.created',
      'cli_operation.denied',
    ]);
  });

  it('after 15 minutes → expired everywhere', async () => {
    const terminal = new Terminal(world);
    const opened = await terminal.open();
    clock.advance(15 * MINUTE_MS);
    const proof = proofIn(opened);
    expect((await terminal.poll()).body).toMatchObject({ state: 'expired' });
    expect((await terminal.poll()).body.denied).toBeUndefined();
    expect((await terminal.open()).body.state).toBe('expired');
    expect((await browser.lookup(opened.body.userCode)).body).toEqual({ found: false });
    expect(codeOf(await browser.details(terminal.id, proof))).toEqual([410, 'operation_expired']);
    expect(codeOf(await browser.approve(terminal.id, proof))).toEqual([410, 'operation_expired']);
    expect(codeOf(await browser.deny(terminal.id, proof))).toEqual([410, 'operation_expired']);
  });

  it('approved → cannot be declined any more, and nobody else sees its redirect', async () => {
    const { terminal, proof } = await approved({ loopbackRedirect: LOOPBACK });
    expect(codeOf(await browser.deny(terminal.id, proof))).toEqual([409, 'already_completed']);
    const { owner: stranger } = await newOrganization(world);
    const swapped = new ApprovalBrowser(world, stranger.cookie);
    expect(codeOf(await swapped.approve(terminal.id, proof))).toEqual([409, 'already_completed']);
    expect(codeOf(await new ApprovalBrowser(world).approve(terminal.id, proof))).toEqual([401, 'session_required']);
    const sameElsewhere = await newSession(world, owner.identityId);
    expect((await new ApprovalBrowser(world, sameElsewhere.cookie).approve(terminal.id, proof)).status).toBe(200);
  });

  it('approve and decline at once → one wins, and there is a key only if it is the approval', async () => {
    for (let round = 0; round < 8; round++) {
      clock.advance(MINUTE_MS);
      const terminal = new Terminal(world, `198.51.100.${100 + round}`);
      const proof = proofIn(await terminal.open());
      const [approval, refusal] = await Promise.all([
        browser.approve(terminal.id, proof),
        browser.deny(terminal.id, proof),
      ]);
      expect([approval.status, refusal.status].sort()).toEqual([200, 409]);
      const { body } = await terminal.poll();
      expect(body.result?.credential !== undefined).toBe(approval.status === 200);
    }
  });
});
