import { GatewayError } from '../../common/errors/gateway-error.js';
import type { VaultContext } from './sealed-blob.rules.js';
import type { Vault } from './vault.js';

/** Rows that are read at a time. */
const AT_ONCE = 500;

/** A sealed secret, and the row that keeps it. */
export interface StoredSecret {
  readonly organizationId: string;
  /** Of the row. */
  readonly id: string;
  readonly blob: string;
  readonly context: VaultContext;
}

/** The rows of one table that keep secrets, of whichever accounts. */
export interface SecretRows {
  /** @returns at most `limit` of those behind `afterId`, in the order of their ids. */
  page(afterId: string, limit: number): Promise<readonly StoredSecret[]>;
  /** Puts another blob in the place of this one. @returns false when another one is there meanwhile. */
  replace(secret: StoredSecret, blob: string): Promise<boolean>;
}

/** What became of secrets that an older version of the vault's key had sealed. */
export interface ResealedSecrets {
  readonly resealed: number;
  /** They stay as they are: the version they are sealed with is not here, or they are damaged. */
  readonly unreadable: number;
}

/**
 * Seals anew what an older version of the vault's key has sealed, one row after the other, so that this version can go.
 * Rows are whole after each of them; what is left when it stops is done the next time.
 *
 * @param signal asks to stop after the row under way.
 * @throws provider_unavailable the vault cannot be used now.
 * Source: docs/reference/security.md#vault.
 */
export async function resealOldSecrets(vault: Vault, rows: SecretRows, signal: AbortSignal): Promise<ResealedSecrets> {
  const count = { resealed: 0, unreadable: 0 };
  for (let page = await rows.page('', AT_ONCE); page.length > 0; page = await rows.page(lastIdOf(page), AT_ONCE)) {
    for (const secret of page) {
      if (signal.aborted) return count;
      if (!vault.needsRewrap(secret.blob)) continue;
      const blob = await resealed(vault, secret);
      if (blob === undefined) count.unreadable++;
      else if (await rows.replace(secret, blob)) count.resealed++;
    }
  }
  return count;
}

async function resealed(vault: Vault, { blob, context }: StoredSecret): Promise<string | undefined> {
  try {
    return await vault.seal(await vault.open(blob, context), context);
  } catch (error) {
    if (error instanceof GatewayError && error.reason === 'secret_undecryptable') return undefined;
    throw error;
  }
}

function lastIdOf(page: readonly StoredSecret[]): string {
  return page.at(-1)?.id ?? '';
}
