import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Secret } from '../../common/log/secret.js';
import type { VaultContext } from '../../platform/vault/sealed-blob.rules.js';
import type { HeaderPair } from '../../upstreams/dialect-table.js';
import type { ProviderDialect } from '../../upstreams/provider-dialect.js';
import type { NewProvider } from '../provider-row.js';

/** What survives in a header value: printable ASCII, blanks only inside. */
const SENDABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const HINT_LENGTH = 4;
const SHORT_HINT_LENGTH = 2;

/**
 * A provider key as it was sent, kept exactly so.
 *
 * @throws invalid_request at `secret` for what no header can carry, such as the line end of a careless paste.
 */
export function parseProviderSecret(raw: string): Secret {
  if (!SENDABLE.test(raw)) throw invalidRequest('secret', 'must be printable ASCII without surrounding blanks');
  return new Secret(raw);
}

/** The end of a key, by which people tell keys apart. Source: contract-admin 1.1. */
export function secretHintOf(secret: Secret): string {
  const text = secret.reveal();
  return text.slice(text.length > HINT_LENGTH ? -HINT_LENGTH : -SHORT_HINT_LENGTH);
}

/** Ties a sealed key to its account, row, type and address: a blob that is moved does not open (threats 6.2). */
export function secretContext(
  provider: Pick<NewProvider, 'organizationId' | 'id' | 'type' | 'baseUrl'>,
): VaultContext & { readonly baseUrl: string } {
  const { organizationId, id, type, baseUrl } = provider;
  return { account: organizationId, provider: id, type, baseUrl: baseUrl ?? '' };
}

/** Every header that a provider of this kind gets from us: the key, then the fixed ones. */
export function credentialHeaders(dialect: ProviderDialect, secret: Secret): readonly HeaderPair[] {
  return [[dialect.credentialHeader, dialect.credentialValue(secret.reveal())], ...dialect.extraHeaders];
}
