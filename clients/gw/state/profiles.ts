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

/** The deployments this person uses. A key is in the keychain of the operating system, or in a file where there is none. */
export class Profiles {
  constructor(
    private readonly folder: StateFolder,
    private readonly keychain: Keychain,
  ) {}

  /** The profile that is used when none is named. */
  current(): string {
    return this.folder.read('current')?.trim() || 'default';
  }

  /** @throws Failure the name or the file is not one. */
  find(name: string): Profile | undefined {
    const text = this.folder.read(fileOf(name, 'json'));
    if (text === undefined) return undefined;
    const profile = parsed(text);
    if (profile === undefined) {
      const nextAction = `Connect again: gw deployment connect --profile ${name}`;
      throw Failure.state('profile_unreadable', `The saved profile "${name}" is damaged.`, { nextAction });
    }
    return profile;
  }

  /** The saved key; undefined without one. */
  async key(name: string): Promise<string | undefined> {
    const profile = this.find(name);
    if (profile?.key === 'keychain') return this.keychain.read(entryOf(name, profile));
    return this.folder.read(fileOf(name, 'key'))?.trim() || undefined;
  }

  /** Saves a profile and makes it the current one. Without a key, one that is saved for it goes. */
  async save(name: string, profile: Omit<Profile, 'version' | 'key'>, key: string | undefined): Promise<void> {
    const before = this.find(name);
    const isInKeychain = key !== undefined && (await this.keychain.save(entryOf(name, profile), key));
    if (key !== undefined && !isInKeychain) this.folder.write(fileOf(name, 'key'), `${key}\n`);
    else this.folder.remove(fileOf(name, 'key'));
    const place = key === undefined ? null : isInKeychain ? 'keychain' : 'file';
    this.folder.write(
      fileOf(name, 'json'),
      `${JSON.stringify({ version: 1, ...profile, key: place } satisfies Profile, null, 2)}\n`,
    );
    this.folder.write('current', `${name}\n`);
    const isReplaced = isInKeychain && before !== undefined && entryOf(name, before) === entryOf(name, profile);
    if (before?.key === 'keychain' && !isReplaced) await this.keychain.remove(entryOf(name, before));
  }

  async forgetKey(name: string): Promise<void> {
    const profile = this.find(name);
    if (profile?.key === 'keychain') await this.keychain.remove(entryOf(name, profile));
    this.folder.remove(fileOf(name, 'key'));
  }

  /** The token of a login that waits for its approval; undefined without one. */
  pendingLogin(name: string, url: string): string | undefined {
    const [savedUrl, token] = this.folder.read(fileOf(name, 'login'))?.split('\n') ?? [];
    return savedUrl === url ? token : undefined;
  }

  /** Saves a token before it is sent, so that whatever happens afterwards can go on with it. */
  saveLogin(name: string, url: string, token: string): void {
    this.folder.write(fileOf(name, 'login'), `${url}\n${token}\n`);
  }

  forgetLogin(name: string): void {
    this.folder.remove(fileOf(name, 'login'));
  }
}

const entryOf = (name: string, { deploymentId }: Pick<Profile, 'deploymentId'>) => `${name}@${deploymentId}`;

/** @throws Failure it is not the name of a profile, and could lead out of the folder. */
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
