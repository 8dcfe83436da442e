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
import { EnvironmentError } from '../config/environment.js';
import { type Account, findUnprivileged, mayPass } from './embedded-postgres.rules.js';

/** Parent of the databases whose account cannot reach `DATA_DIR`. */
const APART = '/var/lib/gateway';

/** The files of an embedded server and the account that runs it. */
export interface EmbeddedHome {
  /** The directory that holds everything below. */
  readonly directory: string;
  /** The database cluster, owned by the account. */
  readonly cluster: string;
  readonly lockFile: string;
  readonly usersDirectory: string;
  readonly passwordFile: string;
  readonly logFile: string;
  /** Absent: the server runs as the current user. */
  readonly account: Account | undefined;
}

/**
 * Finds or creates the directory of the embedded database: `<dataDir>/postgres`, or, when the process runs as root and
 * the server's account cannot reach that, a directory under `/var/lib/gateway` named after the data directory. An
 * existing database stays where it is, whatever the current permissions.
 *
 * @throws EnvironmentError with a remedy when no account can run the server or an existing database became unreachable.
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
    throw new EnvironmentError(
      `The database in DATA_DIR, ${inside}, cannot be reached by "${account.name}": allow it to pass ${real}.`,
    );
  }
  return makeHome(directory ?? (insideIsReachable ? inside : apart), account);
}

/** True when the cluster was created completely. */
export function hasCluster(directory: string): boolean {
  return existsSync(join(directory, 'data', 'PG_VERSION'));
}

/**
 * The superuser's password; created at the first call, before the cluster, and readable only by its owner.
 *
 * @throws Error when a database exists and its password file is missing.
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
  // The umask may have narrowed the mode: the account needs to traverse the directory, not to list it.
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

/** The account that created the cluster keeps running it: root or a later `postgres` account could not read it. */
function ownerOfCluster(directory: string | undefined): Account | undefined {
  if (directory === undefined) return undefined;
  const { uid, gid } = statSync(join(directory, 'data'));
  return uid === 0 ? undefined : { name: `user ${uid}`, uid, gid };
}

function unprivilegedAccount(): Account {
  const account = findUnprivileged(readFileSync('/etc/passwd', 'utf8'));
  if (account !== undefined) return account;
  throw new EnvironmentError(
    'Postgres does not run as root, and there is no "postgres" or "nobody" account: set DATABASE_URL.',
  );
}

function reaches(directory: string, account: Account): boolean {
  for (let path = directory; ; path = dirname(path)) {
    if (!mayPass(statSync(path), account)) return false;
    if (path === dirname(path)) return true;
  }
}
