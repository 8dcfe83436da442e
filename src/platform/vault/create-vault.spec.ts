import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { rejectionOf } from '../../../test/support/rejection-of.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Secret } from '../../common/log/secret.js';
import { ExtensionVault } from './create-vault.js';
import { secretUndecryptable, Vault, VaultUnreachable } from './vault.js';

const CONTEXT = { account: 'org_1' };
const TEXT = 'sk-live-123';

/** A vault that fails as the test specifies. */
class ScriptedVault extends Vault {
  state: Vault['state'] = 'ok';
  isClosed = false;

  constructor(private readonly fail: () => void = () => {}) {
    super();
  }

  async seal(secret: Secret, context: object): Promise<string> {
    this.fail();
    return JSON.stringify([secret.reveal(), context]);
  }

  async open(blob: string): Promise<Secret> {
    this.fail();
    return new Secret(JSON.parse(blob)[0]);
  }

  needsRewrap(blob: string): boolean {
    return blob === 'old';
  }

  override async close(): Promise<void> {
    this.isClosed = true;
  }
}

function failing(failure: unknown): readonly Promise<unknown>[] {
  const vault = new ExtensionVault(
    new ScriptedVault(() => {
      throw failure;
    }),
  );
  return [rejectionOf(vault.seal(new Secret(TEXT), CONTEXT)), rejectionOf(vault.open('blob', CONTEXT))];
}

describe('ExtensionVault', () => {
  it('a working vault → its results, its current state, and its close', async () => {
    const inner = new ScriptedVault();
    const vault = new ExtensionVault(inner);
    const blob = await vault.seal(new Secret(TEXT), CONTEXT);
    expect(blob).toBe(JSON.stringify([TEXT, CONTEXT]));
    expect((await vault.open(blob, CONTEXT)).reveal()).toBe(TEXT);
    expect([vault.needsRewrap('old'), vault.needsRewrap('new')]).toEqual([true, false]);
    inner.state = 'misconfigured';
    expect(vault.state).toBe('misconfigured');
    await vault.close();
    expect(inner.isClosed).toBe(true);
  });

  it.each([[secretUndecryptable()], [new VaultUnreachable('no answer')]])('%s → accepted', async (refusal) => {
    expect(await Promise.all(failing(refusal))).toEqual([refusal, refusal]);
  });

  it.each([
    [new Error(`cannot seal ${TEXT}`)],
    [new GatewayError('internal_error', { cause: new Error(TEXT) })],
    [TEXT],
    [undefined],
  ])('fails with %p → refused without its message', async (failure) => {
    for (const error of await Promise.all(failing(failure))) {
      expect(error).toMatchObject({ code: 'provider_unavailable', reason: 'vault_failed' });
      expect(inspect(error, { depth: null })).not.toContain(TEXT);
    }
  });
});
