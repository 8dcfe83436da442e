import { Agent } from 'undici';
import { readBounded } from '../outbound/bounded-body.js';
import { VaultUnreachable } from './vault.js';
import type { KmsVaultSettings } from './vault-settings.rules.js';

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** The service read the request and says that these values do not fit together. */
const REJECTED = new Set([400, 422]);

/** What the key service said: the JSON of a success, or that it rejects what was sent. */
export type KmsAnswer = { readonly body: unknown } | 'rejected';

/**
 * Speaks to the remote key service: one POST per action, five seconds for the whole exchange, at most 64 KiB of
 * answer, no redirects. The address is the operator's, so no address guard stands in between.
 */
export class KmsClient {
  private readonly agent: Agent;

  /** @param timeoutMs for the whole exchange, connecting included. */
  constructor(
    private readonly settings: KmsVaultSettings,
    private readonly timeoutMs: number = TIMEOUT_MS,
  ) {
    this.agent = new Agent({ connect: { timeout: timeoutMs, allowH2: false } });
  }

  /** @throws VaultUnreachable for everything but a success and a plain rejection (400, 422). */
  async post(action: 'wrap' | 'unwrap', payload: Readonly<Record<string, unknown>>): Promise<KmsAnswer> {
    const { status, text } = await this.exchange(action, JSON.stringify(payload));
    if (REJECTED.has(status)) return 'rejected';
    if (status !== 200) throw new VaultUnreachable(`the key service answered ${status} to ${action}`);
    try {
      return { body: JSON.parse(text) };
    } catch {
      throw new VaultUnreachable(`the key service answered ${action} with something that is not JSON`);
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async exchange(action: string, body: string): Promise<{ status: number; text: string }> {
    const url = new URL(`${this.settings.url.reveal()}/${action}`);
    const headers = {
      authorization: `Bearer ${this.settings.token.reveal()}`,
      'content-type': 'application/json',
      accept: 'application/json',
    };
    const signal = AbortSignal.timeout(this.timeoutMs);
    try {
      const { origin, pathname: path } = url;
      const answer = await this.agent.request({ origin, path, method: 'POST', headers, body, signal });
      const bytes = await readBounded(answer.body, MAX_ANSWER_BYTES);
      if (bytes !== undefined) return { status: answer.statusCode, text: bytes.toString('utf8') };
    } catch (error) {
      throw new VaultUnreachable(`the key service did not answer ${action}: ${failureCode(error, signal)}`);
    }
    throw new VaultUnreachable(`the key service answered ${action} with more than ${MAX_ANSWER_BYTES} bytes`);
  }
}

/** A short code only: messages of the network may carry the service's address. */
function failureCode(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'timeout';
  return error instanceof Error && 'code' in error ? String(error.code) : 'failed';
}
