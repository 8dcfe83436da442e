const SERVICE = 'gw';
/** Time for the owner to give the keychain consent; a hanging keychain does not block the command longer. */
const LONGEST_MS = 30_000;

/** The used part of a keychain entry. */
interface Entry {
  getPassword(signal: AbortSignal): Promise<string | null>;
  setPassword(secret: string, signal: AbortSignal): Promise<void>;
  deletePassword(signal: AbortSignal): Promise<unknown>;
}

/** The keychain of the operating system, if the machine has an accessible one. */
export class Keychain {
  /** @param isWanted false: keys are always kept in files. */
  constructor(private readonly isWanted: boolean) {}

  /** @returns whether it now stores the secret. */
  async save(name: string, secret: string): Promise<boolean> {
    const isKept = await this.tried(name, async (entry, signal) => {
      await entry.setPassword(secret, signal);
      return (await entry.getPassword(signal)) === secret;
    });
    return isKept ?? false;
  }

  async read(name: string): Promise<string | undefined> {
    return (await this.tried(name, (entry, signal) => entry.getPassword(signal))) ?? undefined;
  }

  async remove(name: string): Promise<void> {
    await this.tried(name, (entry, signal) => entry.deletePassword(signal));
  }

  /** Undefined without a keychain: the package, its binary, the service behind it or its consent may be missing. */
  private async tried<T>(name: string, use: (entry: Entry, signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    if (!this.isWanted) return undefined;
    try {
      const { AsyncEntry } = await import('@napi-rs/keyring');
      const entry = new AsyncEntry(SERVICE, name, { linux: { store: 'secret-service' } });
      return await use(entry, AbortSignal.timeout(LONGEST_MS));
    } catch {
      return undefined;
    }
  }
}
