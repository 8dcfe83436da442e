import { join } from 'node:path';
import { Failure } from '../program/failure.js';
import type { Keychain } from './keychain.js';
import type { StateFolder } from './state-folder.js';

const PROFILE_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** A deployment and an account in it. The key is kept apart. */
export interface Profile {
  readonly version: 1;
  readonly url: string;
  readonly deploymentId: string;
  /** Null until a login. */
  readonly accountId: string | null;
  /** Where the key is. */
  readonly key: 'keychain' | 'file' | null;
}

/** For a person whose saved key was removed without being revoked. */
export const KEY_STAYS_VALID =
  'The key that was saved stays valid until it is revoked: in the console, on the page Access.';

/** The deployments this person uses. A key is in the keychain of the operating system, or in a file without one. */
export class Profiles {
  constructor(
    private readonly folder: StateFolder,
    private readonly keychain: Keychain,
  ) {}

  /** The current profile, used when none is named. @throws Failure if the file with its name is damaged. */
  current(): string {
    const name = this.folder.read('current')?.trim() || 'default';
    if (PROFILE_NAME.test(name)) return name;
    throw this.folder.damaged('current', 'It names the profile that is used.');
  }

  /** Makes a profile the current one. */
  use(name: string): void {
    this.folder.write('current', `${name}\n`);
  }

  /** The saved profiles, damaged ones included, in alphabetical order. */
  names(): readonly string[] {
    return this.folder
      .files('profiles')
      .flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []))
      .filter((name) => PROFILE_NAME.test(name))
      .sort();
  }

  /** Whether a profile is saved, even if damaged. @throws Failure if the name is invalid. */
  has(name: string): boolean {
    return this.folder.read(fileOf(name, 'json')) !== undefined;
  }

  /** A profile; undefined if damaged or absent. */
  readable(name: string): Profile | undefined {
    const text = this.folder.read(fileOf(name, 'json'));
    return text === undefined ? undefined : parsed(text);
  }

  /** @throws Failure the name or the file is not one. */
  find(name: string): Profile | undefined {
    const profile = this.readable(name);
    if (profile === undefined && this.has(name)) {
      const nextAction = `Connect again: gw deployment connect --profile ${name}, or forget it: gw profile remove ${name}`;
      throw Failure.state('profile_unreadable', `The saved profile "${name}" is damaged.`, { nextAction });
    }
    return profile;
  }

  /** The saved key; undefined without one. */
  async key(name: string): Promise<string | undefined> {
    return this.savedKey(name, this.find(name));
  }

  /** Whether a key is saved, also for a damaged profile. */
  async hasKey(name: string): Promise<boolean> {
    return (await this.savedKey(name, this.readable(name))) !== undefined;
  }

  private async savedKey(name: string, profile: Profile | undefined): Promise<string | undefined> {
    if (profile?.key === 'keychain') return this.keychain.read(entryOf(name, profile));
    return this.folder.read(fileOf(name, 'key'))?.trim() || undefined;
  }

  /**
   * Saves a profile and makes it the current one. Without a key, its saved key is deleted.
   *
   * @returns whether a saved key was deleted.
   */
  async save(name: string, profile: Omit<Profile, 'version' | 'key'>, key: string | undefined): Promise<boolean> {
    const before = this.readable(name);
    const keyBefore = await this.savedKey(name, before);
    const isInKeychain = key !== undefined && (await this.keychain.save(entryOf(name, profile), key));
    if (key !== undefined && !isInKeychain) this.folder.write(fileOf(name, 'key'), `${key}\n`);
    else this.folder.remove(fileOf(name, 'key'));
    const place = key === undefined ? null : isInKeychain ? 'keychain' : 'file';
    this.folder.write(
      fileOf(name, 'json'),
      `${JSON.stringify({ version: 1, ...profile, key: place } satisfies Profile, null, 2)}\n`,
    );
    this.use(name);
    const isReplaced = isInKeychain && before !== undefined && entryOf(name, before) === entryOf(name, profile);
    if (before?.key === 'keychain' && !isReplaced) await this.keychain.remove(entryOf(name, before));
    return keyBefore !== undefined && keyBefore !== key;
  }

  /** Renames a profile, with its key and pending login. @param name not in use. */
  async rename(before: string, name: string): Promise<void> {
    const profile = this.find(before);
    if (profile === undefined) return;
    const [current, key, login] = [this.current(), await this.key(before), this.folder.read(fileOf(before, 'login'))];
    await this.save(name, profile, key);
    if (login !== undefined) this.folder.write(fileOf(name, 'login'), login);
    this.use(current === before ? name : current);
    await this.forget(before);
  }

  /** Deletes a profile and its key, and resets the current profile if it was this one. */
  async remove(name: string): Promise<void> {
    await this.forget(name);
    if (this.current() === name) this.folder.remove('current');
  }

  private async forget(name: string): Promise<void> {
    const profile = this.readable(name);
    if (profile?.key === 'keychain') await this.keychain.remove(entryOf(name, profile));
    for (const extension of ['key', 'login', 'json'] as const) this.folder.remove(fileOf(name, extension));
  }

  async forgetKey(name: string): Promise<void> {
    const profile = this.find(name);
    if (profile?.key === 'keychain') await this.keychain.remove(entryOf(name, profile));
    this.folder.remove(fileOf(name, 'key'));
  }

  /** The token of a pending login; undefined without one. */
  pendingLogin(name: string, url: string): string | undefined {
    const [savedUrl, token] = this.folder.read(fileOf(name, 'login'))?.split('\n') ?? [];
    return savedUrl === url ? token : undefined;
  }

  /** Saves a token before it is sent, so that the login can be continued after any failure. */
  saveLogin(name: string, url: string, token: string): void {
    this.folder.write(fileOf(name, 'login'), `${url}\n${token}\n`);
  }

  forgetLogin(name: string): void {
    this.folder.remove(fileOf(name, 'login'));
  }
}

const entryOf = (name: string, { deploymentId }: Pick<Profile, 'deploymentId'>) => `${name}@${deploymentId}`;

/** @throws Failure if it is not a valid profile name and could lead out of the folder. */
function fileOf(name: string, extension: 'json' | 'key' | 'login'): string {
  if (PROFILE_NAME.test(name)) return join('profiles', `${name}.${extension}`);
  throw Failure.input('invalid_profile', `"${name}" is not a profile: use lower-case letters, digits and dashes.`);
}

function parsed(text: string): Profile | undefined {
  try {
    const { version, url, deploymentId, accountId, key } = JSON.parse(text);
    if (version !== 1 || typeof url !== 'string' || typeof deploymentId !== 'string') return undefined;
    const place = key === 'keychain' ? key : 'file';
    return { version, url, deploymentId, accountId: typeof accountId === 'string' ? accountId : null, key: place };
  } catch {
    return undefined;
  }
}
