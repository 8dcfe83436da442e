import { randomBytes } from 'node:crypto';
import type { ApiAnswer } from '../../api-client.js';
import type { World } from '../../world.js';
import type { AndroidChanges, AndroidDevice, AndroidVendor } from './android.js';

interface CallOptions {
  readonly issuerToken?: string;
  readonly challenge?: string;
  readonly changes?: AndroidChanges;
  /** Members beside the usual ones, or in their place. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An Android phone with an install of one application: makes each call as it is told. */
export class AndroidPhone {
  readonly device: AndroidDevice;
  readonly appId: string;
  private readonly world: Pick<World, 'as'>;
  /** A phone of its own is limited on its own. */
  private readonly address = [...randomBytes(3)].reduce((address, byte) => `${address}.${byte}`, '12');

  constructor(world: Pick<World, 'as'>, appId: string, vendor: AndroidVendor) {
    this.world = world;
    this.appId = appId;
    this.device = vendor.device();
  }

  post(route: string, body: unknown, headers: CallOptions['headers'] = {}): Promise<ApiAnswer> {
    const sent = { 'x-forwarded-for': this.address, ...headers };
    return this.world.as(undefined).post(`/v1/apps/${this.appId}/auth/${route}`, body, { headers: sent });
  }

  async challenge(): Promise<string> {
    return (await this.post('challenge', {})).body.challenge;
  }

  async register({ issuerToken, challenge, changes, members, headers }: CallOptions = {}): Promise<ApiAnswer> {
    const asked = challenge ?? (await this.challenge());
    return this.post(
      'register',
      {
        ...{ proof: 'key_attestation', key_id: this.device.keyId, challenge: asked },
        certificate_chain: this.device.attest(asked, changes),
        ...(issuerToken !== undefined && { issuer_token: issuerToken }),
        ...members,
      },
      headers,
    );
  }

  async exchange({ issuerToken, challenge, members, headers }: CallOptions = {}): Promise<ApiAnswer> {
    const asked = challenge ?? (await this.challenge());
    return this.post(
      'token',
      {
        ...{ proof: 'key_attestation', key_id: this.device.keyId, challenge: asked },
        signature: this.device.sign(this.appId, asked),
        ...(issuerToken !== undefined && { issuer_token: issuerToken }),
        ...members,
      },
      headers,
    );
  }
}
