import { GatewayError } from '../../common/errors/gateway-error.js';
import type { VaultContext } from './sealed-blob.rules.js';
import type { Vault } from './vault.js';

/** Rows per page. */
const AT_ONCE = 500;

/** A sealed secret and its row. */
export interface StoredSecret {
  readonly organizationId: string;
  readonly id: string;
  readonly blob: string;
  readonly context: VaultContext;
}

/** The rows of one table that hold secrets, of all accounts. */
export interface SecretRows {
  /** @returns at most `limit` rows after `afterId`, in order of id. */
  page(afterId: string, limit: number): Promise<readonly StoredSecret[]>;
  /** Replaces this blob. @returns false when the row now holds another one. */
  replace(secret: StoredSecret, blob: string): Promise<boolean>;
}

/** Totals of a resealing run. */
export interface ResealedSecrets {
  readonly resealed: number;
  /** Left unchanged: their key version is missing here, or they are damaged. */
  readonly unreadable: number;
}

/**
 * Reseals every secret under an older key version, row by row, so that the version can be retired. Each row changes
 * atomically; an interrupted run continues with the next one.
 *
 * @param signal stops after the current row.
 * @throws provider_unavailable the vault is unavailable.
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
