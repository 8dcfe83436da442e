import type { ApiAnswer } from '../../api-client.js';
import type { World } from '../../world.js';
import type { AndroidChanges, AndroidDevice, AndroidVendor } from './android.js';
import { type PhoneCall, SigningPhone } from './signing-phone.js';

/** A phone whose hardware attests its key. */
export class AndroidPhone extends SigningPhone<AndroidDevice> {
  constructor(world: Pick<World, 'as'>, appId: string, vendor: AndroidVendor) {
    super(world, appId, 'key_attestation', vendor.device());
  }

  async register(call: PhoneCall & { readonly changes?: AndroidChanges } = {}): Promise<ApiAnswer> {
    const challenge = call.challenge ?? (await this.challenge());
    return this.send('register', challenge, { certificate_chain: this.device.attest(challenge, call.changes) }, call);
  }
}
