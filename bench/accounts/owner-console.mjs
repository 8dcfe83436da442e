/** The service on a database of these benches, and the console of the person who owns both accounts in it. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { CookieKeys } from '../../dist/src/accounts/sessions/console-cookies.js';
import {
  ORGANIZATION_COOKIE,
  SESSION_COOKIE,
  signedCookie,
} from '../../dist/src/accounts/sessions/session-cookie.rules.js';
import { startGateway } from '../../dist/src/bootstrap/start.js';

/** What `fillAccounts` calls the accounts and their owner. */
export const ACCOUNTS = { small: 'org_small', large: 'org_large' };
export const OWNER = 'user_1';

/**
 * Starts the service in this process.
 *
 * @param {string} url of the database
 * @returns `{ url, database, cookiesOf(account), stop() }`; `cookiesOf` needs the owner, and answers name and value of
 *   the cookies of a session in which that account is chosen
 */
export async function startOwnerConsole(url) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'owner-console-'));
  const settings = {
    ...{ HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDir, DATABASE_URL: url },
    ...{ SECRET_VAULT_MODE: 'local', SECRET_VAULT_LOCAL_KEK_V1: Buffer.alloc(32, 7).toString('base64') },
    JWT_SECRET: 'a-secret-of-the-bench-and-nobody-else',
    AUTH_SECRET: 'another-secret-of-the-bench-and-nobody-else',
  };
  const gateway = await startGateway(settings, { log: () => undefined });
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  const keys = gateway.app.get(CookieKeys);
  return {
    url: gateway.url,
    database,
    async cookiesOf(account) {
      const token = randomBytes(24).toString('hex');
      await database.query(
        `INSERT INTO sessions (id, identity_id, token_hash, created_at, renewed_at, expires_at)
         VALUES (gen_random_uuid(), $1, $2, now(), now(), now() + interval '1 day')`,
        [OWNER, createHash('sha256').update(token).digest('hex')],
      );
      return {
        [SESSION_COOKIE]: signedCookie(token, keys.signing('session')),
        [ORGANIZATION_COOKIE]: signedCookie(account, keys.signing('current organization')),
      };
    },
    async stop() {
      await database.end();
      await gateway.stop('measured');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
