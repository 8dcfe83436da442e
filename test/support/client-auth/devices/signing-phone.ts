import { randomBytes } from 'node:crypto';
import type { ApiAnswer } from '../../api-client.js';
import type { World } from '../../world.js';

/** How a call differs from the usual one. */
export interface PhoneCall {
  readonly issuerToken?: string;
  readonly challenge?: string;
  /** Members in addition to the usual ones, or replacing them. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A key of a device that signs any text. */
interface SigningDevice {
  readonly keyId: string;
  sign(appId: string, challenge: string): string;
}

/** An Android phone with an install of one application: makes each call as instructed. */
export abstract class SigningPhone<D extends SigningDevice> {
  readonly device: D;
  readonly appId: string;
  private readonly proof: string;
  private readonly world: Pick<World, 'as'>;
  /** A separate phone has its own limits. */
  private readonly address = [...randomBytes(3)].reduce((address, byte) => `${address}.${byte}`, '12');

  constructor(world: Pick<World, 'as'>, appId: string, proof: string, device: D) {
    this.world = world;
    this.appId = appId;
    this.proof = proof;
    this.device = device;
  }

  post(route: string, body: unknown, headers: PhoneCall['headers'] = {}): Promise<ApiAnswer> {
    const sent = { 'x-forwarded-for': this.address, ...headers };
    return this.world.as(undefined).post(`/v1/apps/${this.appId}/auth/${route}`, body, { headers: sent });
  }

  async challenge(): Promise<string> {
    return (await this.post('challenge', {})).body.challenge;
  }

  async exchange(call: PhoneCall = {}): Promise<ApiAnswer> {
    const challenge = call.challenge ?? (await this.challenge());
    return this.send('token', challenge, { signature: this.device.sign(this.appId, challenge) }, call);
  }

  /** @param proven the members specific to the proof. */
  protected send(
    route: string,
    challenge: string,
    proven: object,
    { issuerToken, members, headers }: PhoneCall,
  ): Promise<ApiAnswer> {
    const body = {
      ...{ proof: this.proof, key_id: this.device.keyId, challenge },
      ...proven,
      ...(issuerToken !== undefined && { issuer_token: issuerToken }),
      ...members,
    };
    return this.post(route, body, headers);
  }
}
