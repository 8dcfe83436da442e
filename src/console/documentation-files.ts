import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { bestCoding } from './codings.rules.js';

/** Where the build leaves the pages: seen from the compiled service, and from its source. */
const FOLDERS = ['../../documentation', '../../dist/documentation'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** A file as `tools/documentation.mjs` lists it. */
interface ListedFile {
  readonly name: string;
  readonly type: string;
  /** Changes with the content. */
  readonly version: string;
  /** Whether its address changes with its content. */
  readonly isImmutable: boolean;
  readonly isCompressed: boolean;
}

interface Listing {
  /** Hash of the script in each page, as a content security policy names it. */
  readonly script: string;
  readonly files: Readonly<Record<string, ListedFile>>;
}

/** The pages of the documentation and what belongs to them. Only their list is in memory. */
@Injectable()
export class DocumentationFiles {
  readonly #folder: string | undefined = FOLDERS.find((path) => existsSync(join(path, 'files.json')));
  readonly #files = new Map<string, ListedFile>();
  readonly script: string;

  constructor() {
    if (this.#folder === undefined) {
      this.script = '';
      return;
    }
    const { script, files }: Listing = JSON.parse(readFileSync(join(this.#folder, 'files.json'), 'utf8'));
    this.script = script;
    for (const [address, file] of Object.entries(files)) this.#files.set(address, file);
  }

  get isBuilt(): boolean {
    return this.#folder !== undefined;
  }

  /** What is served at an address. */
  fileAt(address: string): ListedFile | undefined {
    return this.#files.get(address);
  }

  /**
   * The content of a file in the best coding that the client accepts.
   *
   * @param acceptEncoding the header of the request.
   */
  async contentOf(
    { name, isCompressed }: ListedFile,
    acceptEncoding = '',
  ): Promise<{ readonly body: Buffer; readonly contentEncoding?: string }> {
    const path = join(this.#folder ?? '', name);
    const coding = bestCoding(acceptEncoding, () => isCompressed);
    if (coding === undefined) return { body: await readFile(path) };
    return { body: await readFile(path + coding.extension), contentEncoding: coding.name };
  }
}
