import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { ReadContext } from '../common/fields/config-values.js';
import { Environment } from '../platform/config/environment.js';
import type { AppConfig } from './config/app-config.js';
import { parseAppConfig } from './config/app-config.js';

/** A stored configuration: parsed, or the reason why it no longer parses. */
export type StoredConfig =
  | { readonly config: AppConfig; readonly configError: null }
  | { readonly config: undefined; readonly configError: string };

/** `parseAppConfig` with the operator's list of trusted hosts. */
@Injectable()
export class AppConfigParser {
  private readonly trust: ReadContext;

  constructor(environment: Environment) {
    this.trust = { allowsHttp: (host) => environment.TRUSTED_PRIVATE_HOSTS.allowsHost(host) };
  }

  /** @throws invalid_request naming the first invalid place. */
  parse(raw: unknown): AppConfig {
    return parseAppConfig(raw, this.trust);
  }

  /** Reads a stored configuration. One written by an older version may no longer be valid. */
  read(stored: unknown): StoredConfig {
    try {
      return { config: parseAppConfig(stored, { ...this.trust, isStored: true }), configError: null };
    } catch (error) {
      if (error instanceof GatewayError) return { config: undefined, configError: error.message };
      throw error;
    }
  }
}
