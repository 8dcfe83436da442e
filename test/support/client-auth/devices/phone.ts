import { randomBytes } from 'node:crypto';
import type { ApiAnswer } from '../../api-client.js';
import type { World } from '../../world.js';
import type { AssertionChanges, AttestationChanges, Device, DeviceVendor } from './device.js';

/** The application every simulated device runs. */
export const TEAM_ID = 'ABCDE12345';
export const BUNDLE_ID = 'com.example.app';

interface RegisterOptions {
  readonly issuerToken?: string;
  readonly challenge?: string;
  readonly environment?: 'production' | 'development';
  readonly changes?: AttestationChanges;
  /** Members in addition to the usual ones, or replacing them. */
  readonly members?: Readonly<Record<string, unknown>>;
}

interface ExchangeOptions {
  readonly issuerToken?: string;
  readonly challenge?: string;
  readonly changes?: AssertionChanges;
  readonly members?: Readonly<Record<string, unknown>>;
}

/** A phone with an install of one application: makes each call as instructed, and does not repeat any by itself. */
export class Phone {
  readonly device: Device;
  /** Its address on the network, which the world's trusted proxy names; a separate phone has its own limits. */
  readonly address = [...randomBytes(3)].reduce((address, byte) => `${address}.${byte}`, '11');

  readonly appId: string;
  private readonly world: Pick<World, 'as'>;

  constructor(world: Pick<World, 'as'>, appId: string, vendor: DeviceVendor) {
    this.world = world;
    this.appId = appId;
    this.device = vendor.device();
  }

  get keyId(): string {
    return this.device.keyId;
  }

  /** Posts to one of the application's own routes, such as `challenge`. */
  post(route: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<ApiAnswer> {
    return this.postTo(this.world, route, body, headers);
  }

  /** The same on another instance. */
  postTo(
    instance: Pick<World, 'as'>,
    route: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiAnswer> {
    return instance
      .as(undefined)
      .post(`/v1/apps/${this.appId}/auth/${route}`, body, { headers: { 'x-forwarded-for': this.address, ...headers } });
  }

  /** A valid challenge. */
  async challenge(): Promise<string> {
    const answer = await this.post('challenge', {});
    if (answer.status !== 200) throw new Error(`challenge: ${answer.status} ${answer.text}`);
    return answer.body.challenge;
  }

  async registration({ issuerToken, environment, changes, members, ...given }: RegisterOptions = {}): Promise<object> {
    const challenge = given.challenge ?? (await this.challenge());
    const request = { challenge, teamId: TEAM_ID, bundleId: BUNDLE_ID, environment };
    const attestation = await this.device.attest(request, changes);
    return { ...tokenMember(issuerToken), key_id: this.keyId, attestation, challenge, ...members };
  }

  async register(options: RegisterOptions = {}): Promise<ApiAnswer> {
    return this.post('register', await this.registration(options));
  }

  async proof({ issuerToken, changes, members, ...given }: ExchangeOptions = {}): Promise<object> {
    const challenge = given.challenge ?? (await this.challenge());
    const request = { appId: this.appId, challenge, teamId: TEAM_ID, bundleId: BUNDLE_ID };
    const assertion = this.device.assert(request, changes);
    return { ...tokenMember(issuerToken), key_id: this.keyId, assertion, challenge, ...members };
  }

  async exchange(options: ExchangeOptions = {}): Promise<ApiAnswer> {
    return this.post('token', await this.proof(options));
  }

  /** Registers and exchanges, both with success. @returns the gateway token. */
  async signIn(issuerToken?: string): Promise<string> {
    const registered = await this.register({ issuerToken });
    if (registered.status !== 200) throw new Error(`register: ${registered.status} ${registered.text}`);
    const exchanged = await this.exchange({ issuerToken });
    if (exchanged.status !== 200) throw new Error(`token: ${exchanged.status} ${exchanged.text}`);
    return exchanged.body.access_token;
  }
}

function tokenMember(issuerToken: string | undefined): object {
  return issuerToken === undefined ? {} : { issuer_token: issuerToken };
}
