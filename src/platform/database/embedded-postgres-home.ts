import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { type Account, findUnprivileged, mayPass } from './embedded-postgres.rules.js';

/** Where databases live whose account cannot reach `DATA_DIR`. */
const APART = '/var/lib/gateway';

/** Where an embedded server keeps what, and who runs it. */
export interface EmbeddedHome {
  /** The directory that holds everything below. */
  readonly directory: string;
  /** The database cluster itself, owned by the account. */
  readonly cluster: string;
  readonly lockFile: string;
  readonly usersDirectory: string;
  readonly passwordFile: string;
  readonly logFile: string;
  /** Absent: the server runs as whoever we are. */
  readonly account: Account | undefined;
}

/**
 * Finds or makes the directory of the embedded database: `<dataDir>/postgres`, or, when we are root and the server's
 * account cannot reach that, one under `/var/lib/gateway` named after the data directory. A database that exists in
 * either place stays there, whatever the permissions say today.
 *
 * @throws Error saying what to do when no account can run the server or an existing database became unreachable.
 * Source: docs/operations.md#start.
 */
export function openHome(dataDir: string): EmbeddedHome {
  mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const real = realpathSync(dataDir);
  const inside = join(real, 'postgres');
  if (process.getuid?.() !== 0) return makeHome(inside, undefined);

  const apart = join(APART, createHash('sha256').update(real).digest('hex').slice(0, 16));
  const directory = [inside, apart].find(hasCluster);
  const account = ownerOfCluster(directory) ?? unprivilegedAccount();
  const insideIsReachable = reaches(real, account);
  if (directory === inside && !insideIsReachable) {
    throw new Error(`The database in ${inside} cannot be reached by "${account.name}": allow it to pass ${real}.`);
  }
  return makeHome(directory ?? (insideIsReachable ? inside : apart), account);
}

/** True once the cluster has been created completely. */
export function hasCluster(directory: string): boolean {
  return existsSync(join(directory, 'data', 'PG_VERSION'));
}

/**
 * The superuser's password; made at the first call, before the cluster, and readable by us only.
 *
 * @throws Error when there is a database and its password is gone.
 */
export function requirePassword(home: EmbeddedHome, ids: Ids): Secret {
  if (!existsSync(home.passwordFile)) {
    if (hasCluster(home.directory)) throw new Error(`${home.passwordFile} is missing; restore it from a backup.`);
    const draft = `${home.passwordFile}.new`;
    writeFileSync(draft, ids.base62(32), { mode: 0o600 });
    renameSync(draft, home.passwordFile);
  }
  return new Secret(readFileSync(home.passwordFile, 'utf8'));
}

function makeHome(directory: string, account: Account | undefined): EmbeddedHome {
  mkdirSync(directory, { recursive: true });
  // Set again because the umask may have narrowed it: the account has to pass, but need not list.
  chmodSync(directory, account === undefined ? 0o700 : 0o711);
  if (dirname(directory) === APART) chmodSync(APART, 0o711);
  return {
    directory,
    cluster: join(directory, 'data'),
    lockFile: join(directory, 'start.lock'),
    usersDirectory: join(directory, 'users'),
    passwordFile: join(directory, 'password'),
    logFile: join(directory, 'postgres.log'),
    account,
  };
}

/** Whoever made the cluster keeps running it: a later root, or a newly added `postgres` account, could not read it. */
function ownerOfCluster(directory: string | undefined): Account | undefined {
  if (directory === undefined) return undefined;
  const { uid, gid } = statSync(join(directory, 'data'));
  return uid === 0 ? undefined : { name: `user ${uid}`, uid, gid };
}

function unprivilegedAccount(): Account {
  const account = findUnprivileged(readFileSync('/etc/passwd', 'utf8'));
  if (account !== undefined) return account;
  throw new Error('Postgres does not run as root, and there is no "postgres" or "nobody" account: set DATABASE_URL.');
}

function reaches(directory: string, account: Account): boolean {
  for (let path = directory; ; path = dirname(path)) {
    if (!mayPass(statSync(path), account)) return false;
    if (path === dirname(path)) return true;
  }
}
