import type { ApiAnswer } from '../../api-client.js';
import type { World } from '../../world.js';
import { PlayDevice, type PlayVendor, type TokenChanges } from './play.js';
import { type PhoneCall, SigningPhone } from './signing-phone.js';

/** A phone whose application has integrity tokens. */
export class PlayPhone extends SigningPhone<PlayDevice> {
  private readonly vendor: PlayVendor;

  constructor(world: Pick<World, 'as'>, appId: string, vendor: PlayVendor) {
    super(world, appId, 'play_integrity', new PlayDevice());
    this.vendor = vendor;
  }

  async register(call: PhoneCall & { readonly changes?: TokenChanges } = {}): Promise<ApiAnswer> {
    const challenge = call.challenge ?? (await this.challenge());
    const requestHash = this.device.requestHash(this.appId, challenge);
    // The vendor's clock agrees with that of the database.
    const integrity_token = await this.vendor.token(requestHash, Date.now(), call.changes);
    const proven = { public_key: this.device.publicKey.toString('base64'), integrity_token };
    return this.send('register', challenge, proven, call);
  }
}
