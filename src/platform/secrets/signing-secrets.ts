import type { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { type Environment, EnvironmentError } from '../config/environment.js';
import { generatedSecret } from './secret-file.js';

/** A secret of ours and the one before it; both verify, so that one can replace the other without a break. */
abstract class SigningSecrets {
  /** The setting they come from. Keeps the types of two purposes apart. */
  abstract readonly setting: 'JWT_SECRET' | 'AUTH_SECRET';

  constructor(
    /** Signs. */
    readonly current: Secret,
    /** Only verifies. */
    readonly previous: Secret | undefined,
  ) {}
}

/** The secrets of gateway tokens. */
export class TokenSecrets extends SigningSecrets {
  readonly setting = 'JWT_SECRET';
}

/** The secrets of sign-in and management: cookies of the console, answers that are kept for a retry. */
export class AuthSecrets extends SigningSecrets {
  readonly setting = 'AUTH_SECRET';
}

/** Where {@link tokenSecretsOf} and {@link authSecretsOf} look. */
interface SecretSources {
  readonly environment: Pick<
    Environment,
    'JWT_SECRET' | 'JWT_SECRET_PREVIOUS' | 'AUTH_SECRET' | 'AUTH_SECRET_PREVIOUS'
  >;
  /** The service keeps its own database, and so its own secrets. */
  readonly embedded: boolean;
  readonly dataDir: string;
  readonly ids: Ids;
}

/**
 * The operator's secrets of gateway tokens; with the embedded database a generated one in their place.
 *
 * @throws EnvironmentError an external database and no `JWT_SECRET`: instances could not read each other's tokens.
 */
export function tokenSecretsOf(sources: SecretSources): TokenSecrets {
  const { JWT_SECRET, JWT_SECRET_PREVIOUS } = sources.environment;
  return new TokenSecrets(JWT_SECRET ?? generated(sources, 'JWT_SECRET', 'jwt-secret'), JWT_SECRET_PREVIOUS);
}

/**
 * The same of sign-in and management.
 *
 * @throws EnvironmentError an external database and no `AUTH_SECRET`: instances could not read each other's cookies.
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
