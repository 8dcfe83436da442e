import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../program/failure.js';

const PROFILE_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
const OWNER_ONLY = 0o600;
const FOLDER_MODE = 0o700;

/** A deployment and an account in it. The key is kept apart. */
export interface Profile {
  readonly version: 1;
  readonly url: string;
  readonly deploymentId: string;
  /** Null until a login. */
  readonly accountId: string | null;
}

/** The deployments this person uses: files of a folder that only they can read. */
export class Profiles {
  constructor(private readonly folder: string) {}

  /** The profile that is used when none is named. */
  current(): string {
    return this.read('current')?.trim() || 'default';
  }

  /** @throws Failure the name or the file is not one. */
  find(name: string): Profile | undefined {
    const text = this.read(fileOf(name, 'json'));
    if (text === undefined) return undefined;
    const profile = parsed(text);
    if (profile === undefined) {
      const nextAction = `Connect again: gw deployment connect --profile ${name}`;
      throw Failure.state('profile_unreadable', `The saved profile "${name}" is damaged.`, { nextAction });
    }
    return profile;
  }

  /** The saved key; undefined without one. */
  key(name: string): string | undefined {
    return this.read(fileOf(name, 'key'))?.trim() || undefined;
  }

  /** Saves a profile and makes it the current one. Without a key, one that is saved for it goes. */
  save(name: string, profile: Profile, key: string | undefined): void {
    if (key === undefined) this.forgetKey(name);
    else this.write(fileOf(name, 'key'), `${key}\n`);
    this.write(fileOf(name, 'json'), `${JSON.stringify(profile, null, 2)}\n`);
    this.write('current', `${name}\n`);
  }

  forgetKey(name: string): void {
    rmSync(join(this.folder, fileOf(name, 'key')), { force: true });
  }

  /** The token of a login that waits for its approval; undefined without one. */
  pendingLogin(name: string, url: string): string | undefined {
    const [savedUrl, token] = this.read(fileOf(name, 'login'))?.split('\n') ?? [];
    return savedUrl === url ? token : undefined;
  }

  /** Saves a token before it is sent, so that whatever happens afterwards can go on with it. */
  saveLogin(name: string, url: string, token: string): void {
    this.write(fileOf(name, 'login'), `${url}\n${token}\n`);
  }

  forgetLogin(name: string): void {
    rmSync(join(this.folder, fileOf(name, 'login')), { force: true });
  }

  private read(file: string): string | undefined {
    try {
      return readFileSync(join(this.folder, file), 'utf8');
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw unusable(this.folder, error);
    }
  }

  /** Whole or not at all: written beside and renamed. */
  private write(file: string, text: string): void {
    const path = join(this.folder, file);
    const draft = `${path}.${process.pid}`;
    try {
      mkdirSync(join(this.folder, 'profiles'), { recursive: true, mode: FOLDER_MODE });
      writeFileSync(draft, text, { mode: OWNER_ONLY, flag: 'wx' });
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw unusable(this.folder, error);
    }
  }
}

/** @throws Failure it is not the name of a profile, and could lead out of the folder. */
function fileOf(name: string, extension: 'json' | 'key' | 'login'): string {
  if (PROFILE_NAME.test(name)) return join('profiles', `${name}.${extension}`);
  throw Failure.input('invalid_profile', `"${name}" is not a profile: use lower-case letters, digits and dashes.`);
}

function parsed(text: string): Profile | undefined {
  try {
    const { version, url, deploymentId, accountId } = JSON.parse(text);
    const isProfile = version === 1 && typeof url === 'string' && typeof deploymentId === 'string';
    return isProfile
      ? { version, url, deploymentId, accountId: typeof accountId === 'string' ? accountId : null }
      : undefined;
  } catch {
    return undefined;
  }
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

function unusable(folder: string, cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const nextAction = 'Make the folder writable for you, or name another with XDG_STATE_HOME.';
  return Failure.state('state_unusable', `The state in ${folder} cannot be used: ${reason}`, { nextAction });
}
