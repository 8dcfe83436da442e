import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { StateFolder } from './state-folder.js';

const TOKEN_BYTES = 32;
/** Beyond it a repeat of a command is meant as a new one. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/** What makes a repeat of a request the same request. Both are secrets of this machine. */
export interface RequestProof {
  readonly key: string;
  readonly proof: string;
}

/** Requests under way: written before they are sent, so that a repeat after a lost answer changes nothing twice. */
export class Journal {
  constructor(
    private readonly folder: StateFolder,
    private readonly nowMs: () => number,
  ) {}

  /** The proof of a request: that of an earlier attempt, else a new one. @param identity whatever tells requests apart. */
  begin(identity: unknown): RequestProof {
    const file = fileOf(identity);
    const saved = this.saved(file);
    if (saved !== undefined && this.nowMs() - saved.atMs < LONGEST_MS) return saved;
    const [key, proof] = [newToken(), newToken()];
    this.folder.write(file, `${JSON.stringify({ key, proof, atMs: this.nowMs() })}\n`);
    return { key, proof };
  }

  /** Whether a request was sent whose outcome is not known. */
  isUnderWay(identity: unknown): boolean {
    return this.saved(fileOf(identity)) !== undefined;
  }

  /** @throws Failure the record is damaged: a repeat would not be known as one, and could create something twice. */
  private saved(file: string): (RequestProof & { readonly atMs: number }) | undefined {
    const text = this.folder.read(file);
    const saved = parsed(text);
    if (text !== undefined && saved === undefined) {
      throw this.folder.damaged(file, 'See whether an earlier run has created it (gw app list, gw provider list).');
    }
    return saved;
  }

  /** The outcome of the request is known and kept. */
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
