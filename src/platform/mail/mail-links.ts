import { createSecretKey, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Ids } from '../../common/ids.js';
import type { Secret } from '../../common/log/secret.js';
import { AuthSecrets } from '../secrets/signing-secrets.js';
import { IV_BYTES, openText, sealText } from '../vault/sealed-blob.rules.js';

const KEY_BYTES = 32;

/**
 * Seals the link of an invitation until its mail is sent, under a key derived from `AUTH_SECRET`.
 *
 * Source: docs/reference/security.md#vault (HKDF-SHA256, RFC 5869).
 */
@Injectable()
export class MailLinks {
  constructor(
    private readonly secrets: AuthSecrets,
    private readonly ids: Ids,
  ) {}

  seal(invitationId: string, link: Secret): string {
    return sealText(keyOf(this.secrets.current), this.ids.bytes(IV_BYTES), link, contextOf(invitationId));
  }

  /** The link; `undefined` when no current secret opens it. */
  open(invitationId: string, sealed: string): Secret | undefined {
    for (const secret of [this.secrets.current, this.secrets.previous]) {
      const opened = secret && openText(keyOf(secret), sealed, contextOf(invitationId));
      if (opened !== undefined) return opened;
    }
    return undefined;
  }
}

const keyOf = (secret: Secret) =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret.reveal(), '', 'gateway mail: invitation link', KEY_BYTES)));

const contextOf = (invitationId: string) => ({ purpose: 'mail invitation link', invitation: invitationId });
