import { createHmac } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { errorText } from '../../common/errors/error-text.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Log } from '../../common/log/log.js';
import { Secret } from '../../common/log/secret.js';
import type { KeyCheckedVault } from './key-checked-vault.js';
import type { SecretRows, StoredSecret } from './resealing.js';
import type { VaultKey } from './vault.js';

const CHECK_MS = 60_000;
const CANARY = new Secret('canary');
const CONTEXT = { purpose: 'canary' };
/** Secrets examined where no canary is stored yet. */
const SAMPLE = 500;

interface KeyCanaryParts {
  readonly vault: KeyCheckedVault;
  readonly dataSource: DataSource;
  /** The tables with sealed secrets. */
  readonly stored: (connection: EntityManager) => readonly SecretRows[];
  /** Secrets that sign, by their variable. */
  readonly signing: Readonly<Record<string, Secret>>;
  readonly log: Log;
}

/**
 * Recognises the operator's keys by a canary for each in `key_canaries`: a text that this version of the vault's key
 * has sealed, or a fingerprint of a signing secret. Source: docs/operations.md#vault.
 */
export class KeyCanaries {
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: KeyCanaryParts) {}

  /** Compares all keys now, and those of the vault every minute. */
  async open(): Promise<void> {
    const known = await this.#read();
    await this.#compareSigning(known);
    await this.#judge(known);
    this.#timer = setInterval(() => void this.check(), CHECK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Checks each key of the vault. A key that cannot be compared now keeps its previous result. */
  async check(): Promise<void> {
    try {
      await this.#judge(await this.#read());
    } catch (error) {
      this.#logFailure(error);
    }
  }

  async #judge(canaries: ReadonlyMap<string, string>): Promise<void> {
    const { vault, log } = this.parts;
    for (const key of vault.keys) {
      try {
        const isFit = await this.#fits(key, canaries);
        if (!vault.judge(key, isFit) || isFit) continue;
        log.event('secret_vault_misconfigured', { error: `${key.variable} is not the key that sealed what is stored` });
      } catch (error) {
        this.#logFailure(error);
      }
    }
  }

  #logFailure(error: unknown): void {
    const text = errorText(error);
    this.parts.log.event('secret_vault_check_failed', { error: text });
  }

  async #fits(key: VaultKey, canaries: ReadonlyMap<string, string>): Promise<boolean> {
    const name = `vault ${key.version}`;
    const known = canaries.get(name);
    if (known !== undefined && (await opens(key, known, CONTEXT))) return true;
    // Another key in place of a retired version is not an error once nothing is sealed with that version.
    if (known !== undefined && key.isCurrent) return false;
    const sealed = await this.#sample(key);
    if (known !== undefined && sealed.length > 0) return false;
    if (sealed.length > 0 && !(await opensAny(key, sealed))) return false;
    await this.#store(name, await key.seal(CANARY, CONTEXT), known);
    const stored = (await this.#read()).get(name);
    return stored !== undefined && opens(key, stored, CONTEXT);
  }

  async #compareSigning(canaries: ReadonlyMap<string, string>): Promise<void> {
    const { signing, log } = this.parts;
    for (const [variable, secret] of Object.entries(signing)) {
      const fingerprint = createHmac('sha256', secret.reveal()).update('canary').digest('base64url');
      const known = canaries.get(variable);
      if (known === fingerprint) continue;
      if (known !== undefined) log.event('signing_secret_changed', { variable });
      await this.#store(variable, fingerprint, known);
    }
  }

  async #sample(key: VaultKey): Promise<StoredSecret[]> {
    const { stored, dataSource } = this.parts;
    const sample: StoredSecret[] = [];
    // One after the other, on one connection: opening another takes longer than all of these statements.
    for (const rows of stored(dataSource.manager)) sample.push(...(await rows.page('', SAMPLE)));
    return sample.filter(({ blob }) => key.owns(blob));
  }

  /** All canaries, by name. */
  async #read(): Promise<ReadonlyMap<string, string>> {
    const sql = 'SELECT name, canary FROM key_canaries';
    const rows = await this.parts.dataSource.query<{ name: string; canary: string }[]>(sql);
    return new Map(rows.map(({ name, canary }) => [name, canary]));
  }

  /** Of several instances, one stores it. @param known is replaced; undefined: none was stored. */
  async #store(name: string, canary: string, known: string | undefined): Promise<void> {
    await this.parts.dataSource.query(
      `INSERT INTO key_canaries AS stored (name, canary) VALUES ($1, $2)
       ON CONFLICT (name) DO UPDATE SET canary = excluded.canary WHERE stored.canary = $3`,
      [name, canary, known ?? null],
    );
  }
}

async function opens(key: VaultKey, blob: string, context: StoredSecret['context']): Promise<boolean> {
  try {
    await key.open(blob, context);
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.reason === 'secret_undecryptable') return false;
    throw error;
  }
}

/** A single row may be damaged. */
async function opensAny(key: VaultKey, secrets: readonly StoredSecret[]): Promise<boolean> {
  for (const { blob, context } of secrets) if (await opens(key, blob, context)) return true;
  return false;
}
