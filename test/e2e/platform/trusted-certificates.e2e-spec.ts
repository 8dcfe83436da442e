import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type IssuerSimulator, startIssuer } from '../../support/client-auth/issuers/issuer.js';
import { programAnswer } from '../../support/platform/program-answer.js';

let issuer: IssuerSimulator;
let directory: string;

beforeAll(async () => {
  issuer = await startIssuer({ tls: true });
  directory = mkdtempSync(join(tmpdir(), 'gateway-certificates-'));
});

afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await issuer.stop();
});

it('https with a certificate from NODE_EXTRA_CA_CERTS → reached; without it → unreachable', async () => {
  expect(issuer.jwksUrl).toMatch(/^https:/);
  const file = join(directory, 'issuer.pem');
  writeFileSync(file, issuer.certificate ?? '');
  const get = (env: Readonly<Record<string, string>>) => programAnswer('trusting-get', [issuer.jwksUrl], [], env);
  expect(await get({ NODE_EXTRA_CA_CERTS: file })).toEqual({ status: 200 });
  expect(await get({})).toEqual({ reason: 'unreachable', cause: expect.stringMatching(/CERT/) });
});
