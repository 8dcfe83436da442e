import type { Device, DeviceVendor } from './device.js';
import { BUNDLE_ID, TEAM_ID } from './phone.js';

/** The system of a simulated phone has no key of this id (any more). */
export class KeyLost extends Error {}

/**
 * What the system of a phone does for the applications on it: keys that never leave it, and a keychain for their ids.
 */
export class DeviceKeystore {
  /** Ids of registered keys, by application; outlives the application's deletion. */
  readonly keychain = new Map<string, string>();
  /** In the order they were made. */
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

  /** Forgets every key, as a phone restored from a copy does; the keychain stays. */
  loseKeys(): void {
    this.keys.clear();
  }

  private deviceOf(keyId: string): Device {
    const device = this.keys.get(keyId);
    if (device === undefined) throw new KeyLost();
    return device;
  }
}
