import type { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { type Environment, EnvironmentError } from '../config/environment.js';
import { generatedSecret } from './secret-file.js';

const SECRET_FILE = 'jwt-secret';

/** The secrets of gateway tokens; both verify, so that one can replace the other without a break. */
export class TokenSecrets {
  constructor(
    /** Signs. */
    readonly current: Secret,
    /** Only verifies. */
    readonly previous: Secret | undefined,
  ) {}
}

/** Where {@link tokenSecretsOf} looks. */
interface TokenSecretSources {
  readonly environment: Pick<Environment, 'JWT_SECRET' | 'JWT_SECRET_PREVIOUS'>;
  /** The service keeps its own database, and so its own secrets. */
  readonly embedded: boolean;
  readonly dataDir: string;
  readonly ids: Ids;
}

/**
 * The operator's secrets; with the embedded database a generated one in their place (decisions 1.1 and 2).
 *
 * @throws EnvironmentError an external database and no `JWT_SECRET`: instances could not read each other's tokens.
 */
export function tokenSecretsOf({ environment, embedded, dataDir, ids }: TokenSecretSources): TokenSecrets {
  const { JWT_SECRET, JWT_SECRET_PREVIOUS } = environment;
  if (JWT_SECRET !== undefined) return new TokenSecrets(JWT_SECRET, JWT_SECRET_PREVIOUS);
  if (!embedded) {
    throw new EnvironmentError(
      'JWT_SECRET is required with DATABASE_URL: at least 32 bytes, the same on every instance, such as the output of `openssl rand -base64 32`',
    );
  }
  return new TokenSecrets(new Secret(generatedSecret(dataDir, SECRET_FILE, ids)), JWT_SECRET_PREVIOUS);
}
