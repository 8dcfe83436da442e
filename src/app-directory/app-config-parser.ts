import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Environment } from '../platform/config/environment.js';
import type { AppConfig } from './config/app-config.js';
import { parseAppConfig } from './config/app-config.rules.js';
import type { IssuerTrust } from './config/issuer-config.rules.js';

/** A stored configuration: parsed, or why it no longer can be. */
export type StoredConfig =
  | { readonly config: AppConfig; readonly configError: null }
  | { readonly config: undefined; readonly configError: string };

/** The configuration grammar bound to the operator's list of trusted hosts, so that every caller judges alike. */
@Injectable()
export class AppConfigParser {
  private readonly trust: IssuerTrust;

  constructor(environment: Environment) {
    this.trust = { allowsHttp: (host) => environment.TRUSTED_PRIVATE_HOSTS.allowsHost(host) };
  }

  /** @throws invalid_request naming the first place that is wrong. */
  parse(raw: unknown): AppConfig {
    return parseAppConfig(raw, this.trust);
  }

  /** Reads what is stored; a configuration of an older version may have become unacceptable since. */
  read(stored: unknown): StoredConfig {
    try {
      return { config: this.parse(stored), configError: null };
    } catch (error) {
      if (error instanceof GatewayError) return { config: undefined, configError: error.message };
      throw error;
    }
  }
}
