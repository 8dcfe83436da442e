import type { Device, DeviceVendor } from './device.js';
import { BUNDLE_ID, TEAM_ID } from './phone.js';

/** The system of a simulated phone has no key with this id, or no longer. */
export class KeyLost extends Error {}

/**
 * The system services of a phone: keys that never leave it, and a keychain for their ids.
 */
export class DeviceKeystore {
  /** Ids of registered keys, by application; outlives the application's deletion. */
  readonly keychain = new Map<string, string>();
  /** In the order of creation. */
  readonly generated: string[] = [];
  private readonly keys = new Map<string, Device>();

  constructor(private readonly vendor: DeviceVendor) {}

  /** @returns the id of a new key. */
  generateKey(): string {
    const device = this.vendor.device();
    this.keys.set(device.keyId, device);
    this.generated.push(device.keyId);
    return device.keyId;
  }

  /** @returns base64. */
  attestKey(keyId: string, clientDataHash: Buffer): Promise<string> {
    return this.deviceOf(keyId).attest({ teamId: TEAM_ID, bundleId: BUNDLE_ID, challenge: '' }, { clientDataHash });
  }

  /** @returns base64. */
  generateAssertion(keyId: string, clientData: string): string {
    const about = { teamId: TEAM_ID, bundleId: BUNDLE_ID, appId: '', challenge: '' };
    return this.deviceOf(keyId).assert(about, { clientData });
  }

  /** Deletes every key, as on a phone restored from a backup; the keychain stays. */
  loseKeys(): void {
    this.keys.clear();
  }

  private deviceOf(keyId: string): Device {
    const device = this.keys.get(keyId);
    if (device === undefined) throw new KeyLost();
    return device;
  }
}
