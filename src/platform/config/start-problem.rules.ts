import { sep } from 'node:path';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import { isConnectionTrouble } from '../database/database-errors.js';
import { type Environment, EnvironmentError } from './environment.js';

/** Codes of the system for a disk or a quota that is full. */
const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
/** What programs of Postgres and its log say in that case, in the locale C. */
const FULL_TEXT = /No space left on device|Disk quota exceeded/;
/** SQLSTATE disk_full. */
const DATABASE_FULL = '53100';

/**
 * Why the listening address cannot be used, as a sentence about `PORT` or `HOST`.
 *
 * @returns the error itself if it has no system error code.
 */
export function listenProblem(error: unknown, { HOST, PORT }: Pick<Environment, 'HOST' | 'PORT'>): unknown {
  const code = systemErrorCode(error);
  if (code === undefined) return error;
  return new EnvironmentError(sentenceOf(code, HOST, PORT), { cause: error });
}

function sentenceOf(code: string, host: string, port: number): string {
  if (code === 'EADDRINUSE') {
    return `PORT ${port} is in use on ${host} (${code}): stop the program that listens there, or set PORT to another one.`;
  }
  if (code === 'EACCES') {
    return `PORT ${port} is not open to this account (${code}): set PORT to 1024 or above, or give the account the right to listen there.`;
  }
  return `HOST ${host} is not an address of this machine (${code}): set HOST to one of its addresses, or to 0.0.0.0 for all of them.`;
}

/**
 * Why the data directory cannot be used, as a sentence about `DATA_DIR`: of a full disk, and of an error of the system
 * about a path in it.
 *
 * @param dataDir its absolute path.
 * @returns the error itself where it is about something else.
 */
export function dataDirProblem(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error) || error instanceof EnvironmentError) return error;
  const code = systemErrorCode(error);
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined;
  if (path !== undefined && !isWithinOrAbove(path, dataDir)) return error;
  if (FULL.has(code) || (code === undefined && FULL_TEXT.test(error.message))) {
    return fullDataDir(error, dataDir, code ?? 'ENOSPC');
  }
  if (code === undefined || path === undefined) return error;
  const sentence =
    code === 'EEXIST' || code === 'ENOTDIR'
      ? `DATA_DIR ${dataDir} is not a directory, or below a file (${code}): set DATA_DIR to a directory.`
      : `DATA_DIR ${dataDir} cannot be used by this account (${code} at ${path}): let the account own the directory and what is in it, or set DATA_DIR to another one.`;
  return new EnvironmentError(sentence, { cause: error });
}

/** A parent directory counts too: it may be inaccessible, or a file. */
function isWithinOrAbove(path: string, dataDir: string): boolean {
  return path === dataDir || path.startsWith(dataDir + sep) || dataDir.startsWith(path + sep);
}

function fullDataDir(cause: unknown, dataDir: string, code: string): EnvironmentError {
  const sentence = `DATA_DIR ${dataDir} has no space left (${code}): free some, or set DATA_DIR to a directory on another disk.`;
  return new EnvironmentError(sentence, { cause });
}

/**
 * Why the first contact with the database fails, as a sentence about `DATABASE_URL`, or about `DATA_DIR`, where the
 * embedded database is.
 *
 * @returns the error itself where no setting explains it.
 */
export function databaseProblem(
  error: unknown,
  { dataDir, embedded }: { readonly dataDir: string; readonly embedded: boolean },
): unknown {
  const code = systemErrorCode(error);
  if (embedded) return code === DATABASE_FULL ? fullDataDir(error, dataDir, code) : error;
  const fix = DATABASE_FIXES.find(([matches]) => matches(code, error))?.[1];
  if (fix === undefined) return error;
  return new EnvironmentError(`DATABASE_URL ${fix(code ?? 'no answer')}.`, { cause: error });
}

type Matches = (code: string | undefined, error: unknown) => boolean;
type Fix = (code: string) => string;

/** SQLSTATE classes and codes, and those of OpenSSL, by what an operator can do. */
const DATABASE_FIXES: readonly (readonly [Matches, Fix])[] = [
  [
    (code) => code?.startsWith('28') === true,
    (code) => `has a user or a password that Postgres refuses (${code}): correct them, or let Postgres accept them`,
  ],
  [
    (code) => code === '3D000',
    (code) => `names a database that does not exist (${code}): create it, or correct the name`,
  ],
  [
    (code) => code === '42501',
    (code) => `names a user who may not create tables there (${code}): grant CREATE on the database and its schema`,
  ],
  [(code) => code === DATABASE_FULL, (code) => `points to a Postgres whose disk is full (${code}): free space there`],
  [
    (code) => code !== undefined && /CERT|^UNABLE_TO_/.test(code),
    (code) =>
      `points to a Postgres whose certificate is not trusted (${code}): name its authority in NODE_EXTRA_CA_CERTS, ` +
      `or correct sslmode`,
  ],
  [
    (_code, error) => error instanceof Error && error.message === 'The server does not support SSL connections',
    () => 'requires TLS, which that Postgres does not support: enable it there, or correct sslmode',
  ],
  [
    (_code, error) => isConnectionTrouble(error),
    (code) =>
      `points to no Postgres that answers (${code}): start it, correct the address, or wait longer with ` +
      `DATABASE_WAIT_SECONDS`,
  ],
];
