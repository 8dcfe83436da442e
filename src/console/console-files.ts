import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { bestCoding } from './codings.rules.js';

/** Where the build leaves the console: seen from the compiled service, and from its source. */
const FOLDERS = ['../../web', '../../dist/web'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const NONCE = /__CSP_NONCE__/g;

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/** A file to send. */
export interface ConsoleFile {
  readonly body: Buffer;
  readonly contentType: string;
  /** Absent: as it is. */
  readonly contentEncoding?: string;
}

/** What has been read, by path, for all services of this process. */
const read = new Map<string, Buffer>();

function contentOf(path: string): Buffer {
  const content = read.get(path) ?? readFileSync(path);
  read.set(path, content);
  return content;
}

/** The built console, in memory: one page, and assets whose names change with their content. */
@Injectable()
export class ConsoleFiles {
  readonly #page: string | undefined;
  readonly #assets = new Map<string, Buffer>();

  constructor() {
    const folder = FOLDERS.find((path) => existsSync(join(path, 'assets')));
    if (folder === undefined) return;
    this.#page = contentOf(join(folder, 'index.html')).toString('utf8');
    const assets = join(folder, 'assets');
    for (const name of readdirSync(assets)) this.#assets.set(name, contentOf(join(assets, name)));
  }

  /** The page of every address of the console; undefined where the console is not built. */
  page(nonce: string): string | undefined {
    return this.#page?.replace(NONCE, nonce);
  }

  /**
   * An asset in the best coding that the client accepts.
   *
   * @param acceptEncoding the header of the request.
   */
  asset(name: string, acceptEncoding = ''): ConsoleFile | undefined {
    const contentType = TYPES[name.split('.').at(-1) ?? ''];
    const body = this.#assets.get(name);
    if (body === undefined || contentType === undefined) return undefined;
    const coding = bestCoding(acceptEncoding, (extension) => this.#assets.has(name + extension));
    if (coding === undefined) return { body, contentType };
    return { body: this.#assets.get(name + coding.extension) ?? body, contentType, contentEncoding: coding.name };
  }

  /** The asset with a name before its hash; undefined where the console is not built. */
  nameOf(name: string): string | undefined {
    return [...this.#assets.keys()].find((key) => key.startsWith(`${name}-`));
  }
}
