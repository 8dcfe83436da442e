/**
 * What receipts must know of application keys. A port, because the room of keys creates with receipts and may not be
 * imported by them: it implements this.
 */
export abstract class IssuedKeys {
  /** Whether the account has the key, and it is not revoked; false also when its application is gone. */
  abstract isActive(organizationId: string, keyId: string): Promise<boolean>;
}
