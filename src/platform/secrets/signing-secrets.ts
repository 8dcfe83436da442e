import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import type { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { type Environment, EnvironmentError } from '../config/environment.js';

const SECRET_BYTES = 32;

/**
 * A 256-bit secret that is generated once and kept in `<DATA_DIR>/secrets`, readable by its owner only. The first
 * process to create the file wins; a concurrent process reads that secret.
 *
 * @param name of the file.
 * @returns base64.
 */
export function generatedSecret(dataDir: string, name: string, ids: Ids): string {
  const directory = join(dataDir, 'secrets');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, name);
  if (!existsSync(file)) makeSecretFile(file, ids);
  return readFileSync(file, 'utf8').trim();
}

/** A hard link appears with complete content and fails when the name exists, so no reader sees a partial secret. */
function makeSecretFile(file: string, ids: Ids): void {
  const draft = `${file}.${ids.uuid()}`;
  writeFileSync(draft, ids.bytes(SECRET_BYTES).toString('base64'), { flag: 'wx', mode: 0o600, flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A signing secret and its predecessor; both verify, which allows rotation without interruption. */
abstract class SigningSecrets {
  /** The setting of the secrets. Keeps the types of the two purposes distinct. */
  abstract readonly setting: 'JWT_SECRET' | 'AUTH_SECRET';

  constructor(
    /** Signs and verifies. */
    readonly current: Secret,
    /** Verifies only. */
    readonly previous: Secret | undefined,
  ) {}
}

/** The secrets that sign gateway tokens. */
export class TokenSecrets extends SigningSecrets {
  readonly setting = 'JWT_SECRET';
}

/** The secrets of sign-in and management: console cookies and stored idempotent responses. */
export class AuthSecrets extends SigningSecrets {
  readonly setting = 'AUTH_SECRET';
}

/** The inputs of {@link tokenSecretsOf} and {@link authSecretsOf}. */
interface SecretSources {
  readonly environment: Pick<
    Environment,
    'JWT_SECRET' | 'JWT_SECRET_PREVIOUS' | 'AUTH_SECRET' | 'AUTH_SECRET_PREVIOUS'
  >;
  /** True: the service runs its own database, and generates its own secrets. */
  readonly embedded: boolean;
  readonly dataDir: string;
  readonly ids: Ids;
}

/**
 * The operator's secrets for gateway tokens; with the embedded database a generated one by default.
 *
 * @throws EnvironmentError an external database and no `JWT_SECRET`: instances could not verify each other's tokens.
 */
export function tokenSecretsOf(sources: SecretSources): TokenSecrets {
  const { JWT_SECRET, JWT_SECRET_PREVIOUS } = sources.environment;
  return new TokenSecrets(JWT_SECRET ?? generated(sources, 'JWT_SECRET', 'jwt-secret'), JWT_SECRET_PREVIOUS);
}

/**
 * The same for sign-in and management.
 *
 * @throws EnvironmentError an external database and no `AUTH_SECRET`: instances could not verify each other's cookies.
 */
export function authSecretsOf(sources: SecretSources): AuthSecrets {
  const { AUTH_SECRET, AUTH_SECRET_PREVIOUS } = sources.environment;
  return new AuthSecrets(AUTH_SECRET ?? generated(sources, 'AUTH_SECRET', 'auth-secret'), AUTH_SECRET_PREVIOUS);
}

function generated({ embedded, dataDir, ids }: SecretSources, setting: string, file: string): Secret {
  if (embedded) return new Secret(generatedSecret(dataDir, file, ids));
  throw new EnvironmentError(
    `${setting} is required with DATABASE_URL: at least 32 bytes, the same on every instance, such as the output of \`openssl rand -base64 32\``,
  );
}
