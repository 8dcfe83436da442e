import type { OpenSecrets } from '../../providers/secret-patterns.js';
import type { UsageChunkFilter } from '../body/usage-chunk-filter.js';
import { SecretMask } from './secret-mask.js';

/** Transforms a provider's body for the client: masks secrets and withholds usage that only the gateway requested. */
export class AnswerBody {
  readonly #mask: SecretMask;
  #filter: UsageChunkFilter | undefined;

  /** @param credential the provider key in plain text. @param account other decrypted secrets of its account. */
  constructor(credential: string, account: OpenSecrets) {
    this.#mask = new SecretMask(credential, account);
  }

  /** Whether the client may receive fewer bytes than the provider sends. */
  get isFiltered(): boolean {
    return this.#filter !== undefined;
  }

  withhold(filter: UsageChunkFilter): void {
    this.#filter = filter;
  }

  /** The bytes that may be sent now; `undefined` when all of them must wait. */
  push(chunk: Buffer): Buffer | undefined {
    const masked = this.#mask.push(chunk);
    return masked && this.#filter ? this.#filter.push(masked) : masked;
  }

  /** The bytes still held when the body has ended, in order. */
  end(): Buffer[] {
    const rest = this.#mask.end();
    const filtered = rest && this.#filter ? this.#filter.push(rest) : rest;
    const held = this.#filter?.end();
    return [filtered, held].filter((bytes) => bytes !== undefined);
  }
}
