import { Agent, buildConnector } from 'undici';
import { egressConnector } from '../outbound/egress/egress-connector.js';
import type { EgressSettings } from '../outbound/egress/egress-proxy.rules.js';
import { readBounded } from '../outbound/guarded-request.js';
import { VaultUnreachable } from './vault.js';
import type { KmsVaultSettings } from './vault-settings.rules.js';

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** The service understood the request and rejects its values. */
const REJECTED = new Set([400, 422]);

/** The response of the key service: the JSON of a success, or a rejection. */
export type KmsAnswer = { readonly body: unknown } | 'rejected';

/**
 * Client of the remote key service: one POST per action, five seconds per exchange, at most 64 KiB of response, no
 * redirects. The operator sets the address, so the address guard does not apply.
 */
export class KmsClient {
  private readonly agent: Agent;

  /**
   * @param timeoutMs for the whole exchange, connecting included.
   * @param egress by default the service is dialled directly.
   */
  constructor(
    private readonly settings: KmsVaultSettings,
    private readonly timeoutMs: number = TIMEOUT_MS,
    egress?: EgressSettings,
  ) {
    const dial = buildConnector({ timeout: timeoutMs, allowH2: false });
    this.agent = new Agent({ connect: egressConnector(dial, egress, timeoutMs) });
  }

  /** @throws VaultUnreachable for everything but a success and a rejection (400, 422). */
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

/** A short code only: network error messages may contain the service's address. */
function failureCode(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'timeout';
  return error instanceof Error && 'code' in error ? String(error.code) : 'failed';
}
