import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';

/** Where the build leaves the console: seen from the compiled service, and from its source. */
const FOLDERS = ['../../web', '../../dist/web'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const NONCE = /__CSP_NONCE__/g;

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** A coding of a stored file, the best one first. */
const CODINGS = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
] as const;

/** A file to send. */
export interface ConsoleFile {
  readonly body: Buffer;
  readonly contentType: string;
  /** Absent: as it is. */
  readonly contentEncoding?: string;
}

/** The built console, in memory: one page, and assets whose names change with their content. */
@Injectable()
export class ConsoleFiles {
  readonly #page: string | undefined;
  readonly #assets = new Map<string, Buffer>();

  constructor() {
    const folder = FOLDERS.find((path) => existsSync(join(path, 'assets')));
    if (folder === undefined) return;
    this.#page = readFileSync(join(folder, 'index.html'), 'utf8');
    const assets = join(folder, 'assets');
    for (const name of readdirSync(assets)) this.#assets.set(name, readFileSync(join(assets, name)));
  }

  /** The page of every address of the console; undefined where the console is not built. */
  page(nonce: string): string | undefined {
    return this.#page?.replace(NONCE, nonce);
  }

  /**
   * An asset in the best coding that the client takes.
   *
   * @param acceptEncoding the header of the request.
   */
  asset(name: string, acceptEncoding = ''): ConsoleFile | undefined {
    const contentType = TYPES[name.split('.').at(-1) ?? ''];
    const body = this.#assets.get(name);
    if (body === undefined || contentType === undefined) return undefined;
    for (const { name: contentEncoding, extension } of CODINGS) {
      const coded = this.#assets.get(name + extension);
      if (coded !== undefined && accepts(acceptEncoding, contentEncoding)) {
        return { body: coded, contentType, contentEncoding };
      }
    }
    return { body, contentType };
  }
}

/** Source: RFC 9110 12.5.3; a coding with the weight 0 is refused. */
function accepts(acceptEncoding: string, coding: string): boolean {
  return acceptEncoding.split(',').some((entry) => {
    const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return name === coding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
