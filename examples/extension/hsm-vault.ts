import { Agent } from 'undici';
import { Secret } from '../../src/common/log/secret.js';
import type { VaultFactory } from '../../src/platform/vault/create-vault.js';
import type { VaultContext } from '../../src/platform/vault/sealed-blob.rules.js';
import { MisconfiguredVault, secretUndecryptable, Vault, VaultUnreachable } from '../../src/platform/vault/vault.js';

const TIMEOUT_MS = 5_000;
const FORMAT = 'hsm1.';

/** Seals with the company's HSM: only it can open what it sealed, and only for the context it was sealed for. */
class HsmVault extends Vault {
  readonly state = 'ok';
  private readonly agent = new Agent();

  constructor(private readonly url: string) {
    super();
  }

  async seal(secret: Secret, context: VaultContext): Promise<string> {
    return FORMAT + (await this.ask('seal', { text: secret.reveal(), context }));
  }

  async open(blob: string, context: VaultContext): Promise<Secret> {
    if (!blob.startsWith(FORMAT)) throw secretUndecryptable();
    return new Secret(await this.ask('open', { text: blob.slice(FORMAT.length), context }));
  }

  needsRewrap(): boolean {
    return false;
  }

  override async close(): Promise<void> {
    await this.agent.destroy();
  }

  /** Errors have our own texts: the HSM's may contain what must not be logged. */
  private async ask(action: 'seal' | 'open', question: object): Promise<string> {
    const answer = await this.post(`/${action}`, JSON.stringify(question)).catch(() => {
      throw new VaultUnreachable(`the HSM did not answer ${action}`);
    });
    if (answer.status === 422) throw secretUndecryptable();
    if (answer.status !== 200) throw new VaultUnreachable(`the HSM answered ${answer.status} to ${action}`);
    return answer.text;
  }

  private async post(path: string, body: string): Promise<{ readonly status: number; readonly text: string }> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await this.agent.request({ origin: this.url, path, method: 'POST', body, signal });
    return { status: answer.statusCode, text: await answer.body.text() };
  }
}

/** @param url of the HSM; without one the service starts, reports it in its health, and decrypts no key. */
export function hsmVault(url: string | undefined): VaultFactory {
  return ({ log }) => {
    if (url !== undefined) return new HsmVault(url);
    log.event('secret_vault_misconfigured', { error: 'HSM_URL is required' });
    return new MisconfiguredVault();
  };
}
