import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newOrganization, newPerson } from '../../support/accounts/people.js';
import { codeOf } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { type SmtpTestServer, startSmtpServer } from '../../support/mail/smtp-server.js';
import { freePort } from '../../support/platform/gateway-process.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = '/v1/admin/mail';
const HOUR_MS = 3_600_000;
const SUITE_MS = 60_000;

const clock = new FakeClock();
let smtp: SmtpTestServer;
let world: World;
let port: number;

beforeAll(async () => {
  port = await freePort();
  smtp = await startSmtpServer(port);
  world = await startWorld({
    clock,
    env: { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'The Gateway <gateway@example.com>' },
  });
}, SUITE_MS);
afterEach(() => smtp.behave('take'));
afterAll(async () => {
  await world.stop();
  await smtp.stop();
});

/** A member who is mailed these events. */
async function reader(events: readonly string[] | null = ['organization.renamed']) {
  const { organizationId, owner } = await newOrganization(world);
  const answer = await owner.client.put(PATH, { events });
  expect([answer.status, answer.body.mail]).toEqual([200, { configured: true, address: owner.email, events }]);
  const rename = async (name: string) => {
    expect((await owner.client.send('PATCH', `/v1/admin/organizations/${organizationId}`, { name }, {})).status).toBe(
      200,
    );
  };
  return { organizationId, owner, rename };
}

const mailsOf = (organizationId: string) =>
  world.dataSource.query('SELECT status, attempts, sealed_link FROM mails WHERE organization_id = $1 ORDER BY id', [
    organizationId,
  ]);

async function untilStatus(organizationId: string, status: string, attempts = 1): Promise<void> {
  await eventually(
    async () => {
      const [mail] = await mailsOf(organizationId);
      return mail?.status === status && mail.attempts >= attempts;
    },
    { withinMs: SUITE_MS },
  );
}

describe('events by mail', () => {
  it('a subscribed event → one mail in plain text; others → none', async () => {
    const { owner, rename } = await reader();
    expect((await owner.client.post('/v1/admin/invitations', { role: 'admin' })).status).toBe(201);
    await rename('Analytical Engines');
    const [mail] = await smtp.until(owner.email, 1);
    expect(mail).toMatchObject({ from: 'gateway@example.com', to: [owner.email] });
    expect(mail?.headers).toEqual(
      expect.arrayContaining([
        'From: The Gateway <gateway@example.com>',
        `To: ${owner.email}`,
        'Subject: The organization was renamed (Analytical Engines)',
        'Auto-Submitted: auto-generated',
        expect.stringMatching(/^Message-ID: <mail-evt_\w+-\d+@example\.com>$/),
        expect.stringMatching(/^Content-Type: text\/plain/),
      ]),
    );
    expect(mail?.text).toContain('Event: organization.renamed');
    await rename('Difference Engines');
    expect(await smtp.until(owner.email, 2)).toHaveLength(2);
  });

  it('an account name with line ends, bidirectional characters and a link → one subject, no header, no link', async () => {
    const { organizationId, owner, rename } = await reader(['organization.*']);
    await world.dataSource.query('UPDATE organizations SET name = $2 WHERE id = $1', [
      organizationId,
      'Acme\r\nBcc: eve@evil.example\u202e https://evil.example/x',
    ]);
    const { client } = owner;
    expect((await client.post('/v1/admin/invitations', { role: 'admin', email: 'charles@example.com' })).status).toBe(
      201,
    );
    const [mail] = await smtp.until('charles@example.com', 1);
    expect(mail?.to).toEqual(['charles@example.com']);
    expect(mail?.headers.filter((line) => /^bcc/i.test(line))).toEqual([]);
    expect(mail?.text).not.toMatch(/https:\/\/evil|evil\.example/);
    expect(smtp.named).not.toContain('eve@evil.example');
    await rename('Acme');
    expect(await smtp.until(owner.email, 1)).toHaveLength(1);
  });

  it('events of another account, and events after unsubscribing → no mail', async () => {
    const [one, other] = [await reader(null), await reader(null)];
    expect((await one.owner.client.put(PATH, { events: [] })).body.mail.events).toEqual([]);
    await one.rename('Nobody hears of this');
    await other.rename('Somebody does');
    const mails = await smtp.until(other.owner.email, 2);
    expect(mails.every(({ to }) => to.length === 1)).toBe(true);
    expect(mails.map(({ text }) => text).join('\n')).not.toContain('Nobody hears');
    expect(await mailsOf(one.organizationId)).toEqual([]);
  });

  it('a member is removed while a mail waits → the mail is deleted, and none follows', async () => {
    const { organizationId, owner, rename } = await reader();
    const member = await newPerson(world, { organizationId, role: 'member' });
    expect((await member.client.put(PATH, { events: ['organization.renamed'] })).status).toBe(200);
    smtp.behave(451);
    await rename('While it waits');
    await eventually(() => smtp.named.includes(member.email), { withinMs: SUITE_MS });
    expect((await owner.client.delete(`/v1/admin/members/${member.identityId}`)).status).toBe(200);
    smtp.behave('take');
    clock.advance(HOUR_MS);
    await smtp.until(owner.email, 1);
    expect(smtp.received.filter(({ to }) => to.includes(member.email))).toEqual([]);
  });

  it.each(['drop', 451] as const)('a server that answers %s → retried, and nothing is lost', async (answer) => {
    const { organizationId, owner, rename } = await reader();
    smtp.behave(answer);
    await rename('Late');
    await untilStatus(organizationId, 'pending');
    smtp.behave('take');
    clock.advance(HOUR_MS);
    expect(await smtp.until(owner.email, 1)).toHaveLength(1);
    await untilStatus(organizationId, 'sent', 2);
  });

  it('an address that is refused permanently → failed, once', async () => {
    const { organizationId, rename } = await reader();
    smtp.behave(550);
    await rename('Refused');
    await untilStatus(organizationId, 'failed');
    clock.advance(HOUR_MS);
    expect(await mailsOf(organizationId)).toMatchObject([{ status: 'failed', attempts: 1 }]);
  });

  it('a server that is down → requests are answered at once; mails are sent when it is back', async () => {
    const { organizationId, owner, rename } = await reader();
    await smtp.stop();
    await rename('Down');
    await untilStatus(organizationId, 'pending');
    smtp = await startSmtpServer(port);
    clock.advance(HOUR_MS);
    expect(await smtp.until(owner.email, 1)).toHaveLength(1);
  });

  it(
    'a server that stalls → the request is answered, and the attempt ends',
    async () => {
      const { organizationId, owner, rename } = await reader();
      smtp.behave('stall');
      await rename('Stalled');
      await eventually(() => smtp.named.includes(owner.email), { withinMs: SUITE_MS });
      await untilStatus(organizationId, 'pending');
      smtp.behave('take');
      clock.advance(HOUR_MS);
      expect(await smtp.until(owner.email, 1)).toHaveLength(1);
    },
    2 * SUITE_MS,
  );

  it.each([[['no.such_type']], ['all'], [[1]]])('%j → 400 at `events`', async (events) => {
    const { owner } = await newOrganization(world);
    const answer = await owner.client.put(PATH, { events });
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toMatch(/^events/);
  });
});

describe('invitations by mail', () => {
  it('for an address → its link, sealed until it is sent; without one → no mail', async () => {
    const { organizationId, owner } = await newOrganization(world);
    const address = 'invited@example.com';
    const created = await owner.client.post('/v1/admin/invitations', { role: 'member', email: address });
    expect(created.body.mailed).toBe(true);
    const [mail] = await smtp.until(address, 1);
    expect(mail?.text).toContain(created.body.url);
    await untilStatus(organizationId, 'sent');
    expect(await mailsOf(organizationId)).toMatchObject([{ sealed_link: null }]);
    expect((await owner.client.post('/v1/admin/invitations', { role: 'member' })).body.mailed).toBe(false);
  });

  it('revoked while its mail waits → no mail; the table never contains the link', async () => {
    const { organizationId, owner } = await newOrganization(world);
    const address = 'revoked@example.com';
    smtp.behave(451);
    const { body } = await owner.client.post('/v1/admin/invitations', { role: 'member', email: address });
    await untilStatus(organizationId, 'pending');
    const [waiting] = await mailsOf(organizationId);
    expect(waiting.sealed_link).not.toContain(body.url.split('#')[1]);
    await owner.client.post(`/v1/admin/invitations/${body.invitation.id}/revoke`);
    smtp.behave('take');
    clock.advance(HOUR_MS);
    await untilStatus(organizationId, 'failed', 2);
    expect(smtp.received.filter(({ to }) => to.includes(address))).toEqual([]);
  });

  it('more than a hundred per day from one account → the invitation is created without a mail', async () => {
    const { organizationId, owner } = await newOrganization(world);
    const invite = () => owner.client.post('/v1/admin/invitations', { role: 'member', email: 'many@example.com' });
    const { body } = await invite();
    await world.dataSource.query(
      `INSERT INTO mails (organization_id, invitation_id, status, attempts, created_at)
       SELECT $1, $2, 'sent', 1, $3 FROM generate_series(1, 99)`,
      [organizationId, body.invitation.id, new Date(clock.nowMs())],
    );
    const beyond = await invite();
    expect([beyond.status, beyond.body.mailed]).toEqual([201, false]);
  });
});

describe('without SMTP_URL', () => {
  it('→ reported, mails cannot be chosen, and invitations are only links', async () => {
    const silent = await startWorld({ env: { REDIS_URL: '' } });
    const { owner } = await newOrganization(silent);
    const { client } = owner;
    expect((await client.get(PATH)).body.mail).toEqual({ configured: false, address: owner.email, events: [] });
    expect(codeOf(await client.put(PATH, { events: null }))).toEqual([409, 'conflict']);
    const invited = await client.post('/v1/admin/invitations', { role: 'admin', email: 'x@example.com' });
    expect([invited.status, invited.body.mailed]).toEqual([201, false]);
    await silent.stop();
  });
});
