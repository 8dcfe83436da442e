import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newOrganization, type Person } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { ApprovalBrowser, proofIn, Terminal } from '../../support/cli/terminal.js';
import { FakeClock } from '../../support/clock.js';
import { startWorld, type World } from '../../support/world.js';

const HOUR_MS = 3_600_000;
const QUARTER_MS = 900_000;

const clock = new FakeClock();
let world: World;
let owner: Person;
let victim: ApprovalBrowser;

beforeAll(async () => {
  world = await startWorld({ clock, env: { REDIS_URL: '', TRUSTED_PROXIES: '127.0.0.1/32' } });
});
beforeEach(async () => {
  clock.advance(HOUR_MS);
  ({ owner } = await newOrganization(world));
  victim = new ApprovalBrowser(world, owner.cookie);
});
afterAll(() => world.stop());

/** A form as the browser of the signed-in victim sends it. */
function sendForm(path: string, fields: Record<string, string>, origin = world.consoleOrigin): Promise<Response> {
  return fetch(world.baseUrl + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { cookie: owner.cookie, origin },
    redirect: 'manual',
  });
}

async function keysOfVictim(): Promise<unknown[]> {
  const { status, body } = await owner.client.get('/v1/admin/keys');
  expect(status).toBe(200);
  return body.keys;
}

describe('a login started by somebody else', () => {
  it('its whole link opened in the victim’s browser, with every parameter a page can set → nothing is decided', async () => {
    const attacker = new Terminal(world);
    const proof = proofIn(await attacker.open());
    const query = new URLSearchParams({ submissionToken: proof, step: 'approve', sure: 'yes', approve: 'true' });
    for (const path of [`/cli/approve/${attacker.id}`, `/cli/approve/${encodeURIComponent(attacker.id)}`, '/cli']) {
      const { status } = await fetch(`${world.baseUrl}${path}?${query}`, { headers: { cookie: owner.cookie } });
      expect(status).toBe(200);
    }
    expect((await attacker.poll()).body.state).toBe('pending');
    expect(await keysOfVictim()).toEqual([]);
  });

  it('its form sent by another site with the victim’s cookies → 403; by the page, without the checkbox → asks for it', async () => {
    const attacker = new Terminal(world);
    const submissionToken = proofIn(await attacker.open());
    const path = `/cli/approve/${attacker.id}`;
    const fields = { submissionToken, step: 'approve' };
    expect((await sendForm(path, { ...fields, sure: 'yes' }, 'https://evil.example')).status).toBe(403);
    const unticked = await sendForm(path, fields);
    expect([unticked.status, (await unticked.text()).includes('role="alert"')]).toEqual([400, true]);
    expect((await attacker.poll()).body.state).toBe('pending');
    expect(await keysOfVictim()).toEqual([]);
  });

  it('the attacker’s account put into the victim’s browser by a foreign form → 403, and no cookie is set', async () => {
    const attacker = new Terminal(world);
    const submissionToken = proofIn(await attacker.open());
    const fields = { submissionToken, step: 'sign-in', email: 'mallory@example.com', password: 'whatever it is' };
    const sent = await sendForm(`/cli/approve/${attacker.id}`, fields, 'https://evil.example');
    expect([sent.status, sent.headers.get('set-cookie')]).toEqual([403, null]);
  });
});

describe('the steps of one login', () => {
  it('every form submission → one step; the eleventh within a minute is 429', async () => {
    const terminal = new Terminal(world);
    const submissionToken = proofIn(await terminal.open());
    const send = () => sendForm(`/cli/approve/${terminal.id}`, { submissionToken, step: 'approve' });
    for (let at = 0; at < 10; at++) expect((await send()).status).toBe(400);
    expect((await send()).status).toBe(429);
  });
});

describe('a stolen link', () => {
  it('without a session → shows the requester, cannot approve, and is not the token of the terminal', async () => {
    const terminal = new Terminal(world);
    const proof = proofIn(await terminal.open());
    const thief = new ApprovalBrowser(world);
    expect((await thief.details(terminal.id, proof)).status).toBe(200);
    expect(codeOf(await thief.approve(terminal.id, proof))).toEqual([401, 'session_required']);
    expect(codeOf(await terminal.poll(proof))).toEqual([403, 'forbidden']);
    expect(codeOf(await terminal.redeem('x'.repeat(48), proof))).toEqual([403, 'forbidden']);
  });

  it('approved by the thief for an account of their own → the terminal shows whose account it is', async () => {
    const terminal = new Terminal(world);
    const proof = proofIn(await terminal.open());
    const { organizationId, owner: thief } = await newOrganization(world);
    expect((await new ApprovalBrowser(world, thief.cookie).approve(terminal.id, proof)).status).toBe(200);
    const { body } = await terminal.poll();
    expect(body.result.accountId).toBe(organizationId);
    expect(codeOf(await victim.approve(terminal.id, proof))).toEqual([409, 'already_completed']);
  });
});

describe('fixation of the user code', () => {
  it('a terminal that chooses its own code → 400', async () => {
    const chosen = await new Terminal(world).open({ userCode: 'ABCD-EFGH' });
    expect([chosen.status, chosen.body.error.message]).toEqual([400, expect.stringMatching(/^userCode:/)]);
  });

  it('the code of a login that has ended → not valid, not even for the next login of that terminal', async () => {
    const first = await new Terminal(world).open();
    clock.advance(QUARTER_MS);
    const next = await new Terminal(world).open();
    expect(next.body.userCode).not.toBe(first.body.userCode);
    expect((await victim.lookup(first.body.userCode)).body).toEqual({ found: false });
  });
});

describe('the key of a terminal', () => {
  it('on provider calls → 401; the token of its login on the management API → 401', async () => {
    const terminal = new Terminal(world);
    await victim.approve(terminal.id, proofIn(await terminal.open()));
    const { token } = (await terminal.poll()).body.result.credential;
    const { id } = await world.app();
    await world.provider();
    const call = `/v1/apps/${id}/proxy/openai/v1/chat/completions`;
    const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
    expect(codeOf(await world.as(token).post(call, body))).toEqual([401, 'auth_required']);
    expect(codeOf(await world.as(terminal.token).get('/v1/admin/apps'))).toEqual([401, 'auth_required']);
    expect((await world.as(token).get('/v1/admin/apps')).status).toBe(200);
  });
});
