import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { StateFolder } from './state-folder.js';

const TOKEN_BYTES = 32;
/** A repeat after this is a new command. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** What identifies a repeat of a request. Both are secrets of this machine. */
export interface RequestProof {
  readonly key: string;
  readonly proof: string;
}

/** Requests in progress: written before they are sent, so that a repeat after a lost response changes nothing twice. */
export class Journal {
  constructor(
    private readonly folder: StateFolder,
    private readonly nowMs: () => number,
  ) {}

  /** The proof of a request: that of an earlier attempt, else a new one. @param identity distinguishes requests. */
  begin(identity: unknown): RequestProof {
    const file = fileOf(identity);
    const saved = this.saved(file);
    if (saved !== undefined && this.nowMs() - saved.atMs < LONGEST_MS) return saved;
    const [key, proof] = [newToken(), newToken()];
    this.folder.write(file, `${JSON.stringify({ key, proof, atMs: this.nowMs() })}\n`);
    return { key, proof };
  }

  /** Whether a request was sent whose outcome is unknown. */
  isUnderWay(identity: unknown): boolean {
    return this.saved(fileOf(identity)) !== undefined;
  }

  /** @throws Failure if the record is damaged: a repeat would not be recognised and could create something twice. */
  private saved(file: string): (RequestProof & { readonly atMs: number }) | undefined {
    const text = this.folder.read(file);
    const saved = parsed(text);
    if (text !== undefined && saved === undefined) {
      throw this.folder.damaged(file, 'Check whether an earlier run created it (gw app list, gw provider list).');
    }
    return saved;
  }

  /** The outcome of the request is known and stored. */
  end(identity: unknown): void {
    this.folder.remove(fileOf(identity));
  }
}

/** A secret of this machine that is sent as a proof. */
export const newToken = () => randomBytes(TOKEN_BYTES).toString('base64url');

const fileOf = (identity: unknown) =>
  join('requests', createHash('sha256').update(JSON.stringify(identity)).digest('hex'));

function parsed(text: string | undefined): (RequestProof & { readonly atMs: number }) | undefined {
  try {
    const { key, proof, atMs } = JSON.parse(text ?? '');
    const isOne = typeof key === 'string' && typeof proof === 'string' && typeof atMs === 'number';
    return isOne ? { key, proof, atMs } : undefined;
  } catch {
    return undefined;
  }
}
