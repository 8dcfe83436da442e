/** The operating system account that runs the server. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Accounts to try when the process runs as root, which Postgres refuses; most specific first. */
const UNPRIVILEGED = ['postgres', 'nobody'];

/**
 * The account that runs the server, from the text of `/etc/passwd`.
 *
 * @returns `undefined` when no usual unprivileged account exists.
 */
export function findUnprivileged(passwd: string): Account | undefined {
  const entries = passwd.split('\n').map((line) => line.split(':'));
  const found = UNPRIVILEGED.map((name) => entries.find((entry) => entry[0] === name)).find((entry) => entry?.[3]);
  return found && { name: String(found[0]), uid: Number(found[2]), gid: Number(found[3]) };
}

/** Owner and permission bits of a directory. */
export interface Permissions {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** True when the account may traverse a directory. Only the first matching class of permission bits applies. */
export function mayPass(directory: Permissions, account: Account): boolean {
  if (directory.uid === account.uid) return (directory.mode & 0o100) !== 0;
  if (directory.gid === account.gid) return (directory.mode & 0o010) !== 0;
  return (directory.mode & 0o001) !== 0;
}

/** The content of the server's `postmaster.pid`. */
export interface ServerStatus {
  readonly pid: number;
  /** Port on which it accepts connections; absent while it starts, recovers or stops. */
  readonly readyPort: number | undefined;
}

/**
 * Parses `postmaster.pid`, which the server fills in steps.
 *
 * @returns `undefined` when the text names no process.
 */
export function parseServerStatus(text: string): ServerStatus | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const port = Number(lines[3]);
  return { pid, readyPort: lines[7] === 'ready' && Number.isInteger(port) && port > 0 ? port : undefined };
}

/**
 * True when the last launch failed because children of a killed server still use its shared memory.
 *
 * @param log the end of the server log, whose last lines are the error of that launch and its hint.
 */
export function reportsSurvivors(log: string): boolean {
  return log
    .split('\n')
    .slice(-2)
    .some((line) => /pre-existing shared memory block .* is still in use/.test(line));
}

export interface EmbeddedPostgresOptions {
  /** Faster but not durable: a machine crash may lose the data. Only for tests. */
  readonly disposable?: boolean;
  /** Maximum connections of all processes together; 60 when absent. */
  readonly maxConnections?: number;
  /** `shared_buffers` in megabytes; 64 when absent. */
  readonly sharedBuffersMb?: number;
}

/** Command-line settings of the server: loopback TCP only, because a socket path may exceed the system limit. */
export function serverSettings(port: number, options: EmbeddedPostgresOptions): readonly string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: options.maxConnections ?? 60,
    shared_buffers: `${options.sharedBuffersMb ?? 64}MB`,
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(options.disposable ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
