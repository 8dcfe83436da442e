import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';

const REFERENCES = fileURLToPath(new URL('../../e2e/console/pictures', import.meta.url));
/** Of pictures that are not references. */
const ELSEWHERE = join(tmpdir(), 'console-pictures');
/** `WRITE_PICTURES=1 npm run test:e2e -- console-pages` writes references instead of comparing with them. */
const IS_WRITING = process.env.WRITE_PICTURES === '1';

/** Pictures are compared as this many fields, by their mean brightness from 0 to 255. */
const FIELDS = { wide: 64, high: 43 };
/** Dates, figures and charts move a field by less than this; a part that is missing or elsewhere moves it by more. */
const MOST_DIFFERENT = 14;

/** A reference that differs less is not written again. */
const SAME = 0.005;

/** Runs in a blank page: the share of fields that differ between two pictures, given as data addresses. */
const COMPARE = `async ([first, second]) => {
  const fieldsOf = async (address) => {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = new OffscreenCanvas(${FIELDS.wide}, ${FIELDS.high});
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, ${FIELDS.wide}, ${FIELDS.high});
    const { data } = context.getImageData(0, 0, ${FIELDS.wide}, ${FIELDS.high});
    return Array.from({ length: data.length / 4 }, (_, at) => (data[4 * at] + data[4 * at + 1] + data[4 * at + 2]) / 3);
  };
  const [a, b] = [await fieldsOf(first), await fieldsOf(second)];
  return a.filter((field, at) => Math.abs(field - b[at]) > ${MOST_DIFFERENT}).length / a.length;
}`;

/**
 * Runs in a page: times, figures and names of users become ones of the same width, so that no line breaks on some days
 * only.
 */
const HOLD_TIME_STILL = `(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data } = texts.currentNode;
    const still = data
      .replace(/\\b(?:today|\\d{4}-\\d\\d-\\d\\d) \\(UTC\\)/g, 'today (UTC)')
      .replace(/\\b[AP]M\\b/g, 'AM')
      .replace(/\\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\\b/g, 'Nov')
      .replace(/\\buser-\\d+\\b/g, 'user-100')
      .replace(/(?<![\\w-])\\d+(?:[.,:]\\d+)*(?=(?:[KMB%]|m?s)?(?![\\w-]))/g, '100');
    if (still !== data) texts.currentNode.data = still;
  }
})()`;

/** Compares pages with their reference pictures in `test/e2e/console/pictures`. */
export class Pictures {
  private constructor(private readonly blank: Page) {}

  static async open(browser: Browser): Promise<Pictures> {
    mkdirSync(ELSEWHERE, { recursive: true });
    return new Pictures(await browser.newPage());
  }

  /**
   * The share of a page, from 0 to 1, that differs from its reference; the picture is kept elsewhere to be looked at.
   */
  async differenceOf(page: Page, name: string): Promise<number> {
    await page.evaluate(HOLD_TIME_STILL);
    const taken = await page.screenshot({ type: 'jpeg', quality: 60, animations: 'disabled', caret: 'hide' });
    const reference = join(REFERENCES, `${name}.jpg`);
    writeFileSync(join(ELSEWHERE, `${name}.jpg`), taken);
    if (!existsSync(reference) && !IS_WRITING) throw new Error(`${name} has no reference: WRITE_PICTURES=1 writes it`);
    const difference = existsSync(reference) ? await this.compare(taken, readFileSync(reference)) : 1;
    if (!IS_WRITING || difference < SAME) return difference;
    writeFileSync(reference, taken);
    return 0;
  }

  /** The share of two references that differs, from 0 to 1. */
  differenceBetween(name: string, other: string): Promise<number> {
    const [one, two] = [name, other].map((of) => readFileSync(join(REFERENCES, `${of}.jpg`)));
    return this.compare(one ?? Buffer.alloc(0), two ?? Buffer.alloc(0));
  }

  private compare(...pictures: readonly Buffer[]): Promise<number> {
    const addresses = pictures.map((picture) => `data:image/jpeg;base64,${picture.toString('base64')}`);
    return this.blank.evaluate<number>(`(${COMPARE})(${JSON.stringify(addresses)})`);
  }
}
