import type { OpenSecrets } from '../../providers/open-secrets.js';
import type { UsageChunkFilter } from '../body/usage-chunk-filter.js';
import { SecretMask } from './secret-mask.js';

/** A provider's body on its way to the client: our secrets masked, and usage withheld that only we asked for. */
export class AnswerBody {
  readonly #mask: SecretMask;
  #filter: UsageChunkFilter | undefined;

  /** @param credential the provider's key in clear. @param account what else is open of its account. */
  constructor(credential: string, account: OpenSecrets) {
    this.#mask = new SecretMask(credential, account);
  }

  /** Whether the client may get fewer bytes than the provider sends. */
  get isFiltered(): boolean {
    return this.#filter !== undefined;
  }

  withhold(filter: UsageChunkFilter): void {
    this.#filter = filter;
  }

  /** What of the bytes may go on now; `undefined` when all of them must wait. */
  push(chunk: Buffer): Buffer | undefined {
    const masked = this.#mask.push(chunk);
    return masked && this.#filter ? this.#filter.push(masked) : masked;
  }

  /** What still waits when the body has ended, in order. */
  end(): Buffer[] {
    const rest = this.#mask.end();
    const filtered = rest && this.#filter ? this.#filter.push(rest) : rest;
    const held = this.#filter?.end();
    return [filtered, held].filter((bytes) => bytes !== undefined);
  }
}
