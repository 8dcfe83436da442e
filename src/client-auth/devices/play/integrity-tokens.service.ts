import { Injectable } from '@nestjs/common';
import type { AppRef } from '../../../app-directory/app.entity.js';
import type { PlayIntegrity } from '../../../app-directory/config/device-proofs-config.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { Log } from '../../../common/log/log.js';
import type { Secret } from '../../../common/log/secret.js';
import { Environment } from '../../../platform/config/environment.js';
import { type GuardedAnswer, GuardedRequest } from '../../../platform/outbound/guarded-request.js';
import { Vault } from '../../../platform/vault/vault.js';
import { proofRefused } from '../proof-refusal.js';
import { GoogleAccessTokens } from './google-access-tokens.js';
import { decodeIntegrityToken, requireTokenFormat } from './integrity-token.rules.js';
import { PlayCredentialsRepository } from './play-credentials.repository.js';
import {
  type CredentialKind,
  playCredentialContext,
  responseKeysOf,
  serviceAccountOf,
} from './play-credentials.rules.js';
import { askVendor, PlayTrouble } from './play-trouble.js';

/** For an exhausted daily quota of the vendor, and for everything else. */
const RETRY_AFTER_QUOTA_SECONDS = 60;
const RETRY_AFTER_SECONDS = 5;

/**
 * Decodes integrity tokens: calls the vendor, or uses the application's own keys.
 *
 * Source: docs/reference/security.md#play-integrity.
 */
@Injectable()
export class IntegrityTokens {
  constructor(
    private readonly credentials: PlayCredentialsRepository,
    private readonly access: GoogleAccessTokens,
    private readonly outbound: GuardedRequest,
    private readonly vault: Vault,
    private readonly environment: Environment,
    private readonly log: Log,
  ) {}

  /**
   * @returns the payload, signed by the vendor.
   * @throws attest_failed the token is not genuine; service_unavailable it cannot be decoded now, with one
   * `play_integrity_failed` line.
   */
  async decode(app: AppRef, policy: PlayIntegrity, token: string): Promise<unknown> {
    requireTokenFormat(token);
    try {
      return policy.decode === 'local'
        ? await this.decodeLocally(app, token)
        : await this.ask(app, policy.package_name, token);
    } catch (error) {
      throw this.refusalOf(app, error);
    }
  }

  private async decodeLocally(app: AppRef, token: string): Promise<unknown> {
    const { open } = await this.require(app, 'response_keys');
    return decodeIntegrityToken(token, responseKeysOf(await open()));
  }

  private async ask(app: AppRef, packageName: string, token: string): Promise<unknown> {
    const { blob, open } = await this.require(app, 'service_account');
    const bearer = await this.access.get(blob, async () => serviceAccountOf(await open()));
    const answer = await this.post(packageName, token, bearer);
    if (answer.status === 401) this.access.forget(blob);
    return payloadOf(answer);
  }

  private post(packageName: string, token: string, bearer: string): Promise<GuardedAnswer> {
    const url = `${this.environment.PLAY_INTEGRITY_BASE_URL.replace(/\/$/, '')}/v1/${packageName}:decodeIntegrityToken`;
    return askVendor(this.outbound, url, {
      headers: {
        ...{ accept: 'application/json', 'content-type': 'application/json' },
        authorization: `Bearer ${bearer}`,
      },
      body: JSON.stringify({ integrity_token: token }),
    });
  }

  private async require(app: AppRef, kind: CredentialKind): Promise<{ blob: string; open: () => Promise<Secret> }> {
    const blob = await this.credentials.findBlob(app, kind);
    if (blob === undefined) throw new PlayTrouble('play_credentials_missing', kind);
    const context = playCredentialContext({ organizationId: app.organizationId, appId: app.id, kind });
    return { blob, open: () => this.vault.open(blob, context) };
  }

  /** The error for the client: a failed proof unchanged, a failure of the vendor or the vault as 503. */
  private refusalOf(app: AppRef, error: unknown): unknown {
    if (error instanceof PlayTrouble) return this.unavailable(app, error.reason, error.detail, error);
    if (!(error instanceof GatewayError) || error.code !== 'provider_unavailable') return error;
    const { reason = 'secret_unavailable' } = error;
    return this.unavailable(app, reason, 'vault', error);
  }

  private unavailable(app: AppRef, reason: NonNullable<GatewayError['reason']>, detail: string, cause: Error) {
    this.log.event('play_integrity_failed', { appId: app.id, reason, error: detail });
    const isQuota = reason === 'play_quota_exhausted';
    const retryAfterSeconds = isQuota ? RETRY_AFTER_QUOTA_SECONDS : RETRY_AFTER_SECONDS;
    return new GatewayError('service_unavailable', { reason, retryAfterSeconds, cause });
  }
}

/** Only 400 concerns the token itself. */
function payloadOf({ status, body }: GuardedAnswer): unknown {
  if (status === 400) throw proofRefused('integrity_token_refused');
  if (status === 401 || status === 403 || status === 404) {
    throw new PlayTrouble('play_access_refused', `status ${status}`);
  }
  if (status === 429) throw new PlayTrouble('play_quota_exhausted', 'status 429');
  const payload = status === 200 ? decodedIn(body) : undefined;
  if (payload === undefined) throw new PlayTrouble('play_unreachable', `status ${status}`);
  return payload;
}

function decodedIn(body: Buffer): unknown {
  try {
    const { tokenPayloadExternal }: { tokenPayloadExternal?: unknown } = JSON.parse(body.toString());
    return tokenPayloadExternal;
  } catch {
    return undefined;
  }
}
