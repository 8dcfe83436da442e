import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { World } from '../world.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const WIDE = { width: 1280, height: 860 };
const PASSWORD = 'correct horse battery';

/** Of WCAG 2.2, as axe-core names them. */
const LEVELS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The content security policy reports what it has stopped, also where the console of the browser stays silent. */
const COMPLAIN_OF_POLICY = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  window.complain('policy: ' + violatedDirective + ' ' + blockedURI));`;

/** The report of axe-core about a violated rule. */
interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** A person with the console in front of them; everything the browser complains about is kept. */
export class ConsoleBrowser {
  readonly complaints: string[] = [];

  private constructor(
    readonly world: World,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  /** @param scale pixels of pictures for each pixel of the page. */
  static async open(world: World, browser: Browser, cookie?: string, scale = 1): Promise<ConsoleBrowser> {
    const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce', deviceScaleFactor: scale });
    const page = await context.newPage();
    const opened = new ConsoleBrowser(world, context, page);
    await opened.isOf(cookie);
    await page.exposeFunction('complain', (text: string) => void opened.complaints.push(text));
    await page.addInitScript(COMPLAIN_OF_POLICY);
    page.on('request', (request) => {
      const isMarked = request.headers()['x-console-request'] === '1';
      if (new URL(request.url()).pathname.startsWith('/v1/') && !isMarked) {
        opened.complaints.push(`${request.method()} ${request.url()} is no request of the console`);
      }
    });
    page.on('pageerror', ({ message }) => opened.complaints.push(message));
    page.on('console', (message) => {
      // A refusal of the API is shown by the page; the browser says it as well.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        opened.complaints.push(message.text());
      }
    });
    return opened;
  }

  /**
   * Hands the page to somebody else, without data of the previous person. What it has loaded stays: loading and
   * compiling that is two thirds of what a page of a new browser costs.
   */
  async handTo(cookie?: string): Promise<void> {
    const { page, context, world } = this;
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    if (page.url().startsWith(world.baseUrl)) await page.evaluate('localStorage.clear(); sessionStorage.clear()');
    await context.clearCookies();
    await this.isOf(cookie);
    await page.setViewportSize(WIDE);
    this.complaints.length = 0;
  }

  private async isOf(cookie: string | undefined): Promise<void> {
    if (cookie === undefined) return;
    const [name = '', value = ''] = cookie.split('=');
    await this.context.addCookies([{ name, value, url: this.world.baseUrl }]);
  }

  async go(path: string): Promise<void> {
    await this.page.goto(this.world.baseUrl + path);
    await this.settled();
  }

  /** Everything that the page requested has arrived. */
  async settled(): Promise<void> {
    await this.page.waitForLoadState('networkidle');
    await this.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  }

  /** Registers from the sign-up page. */
  async register(email: string): Promise<void> {
    const { page } = this;
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
  }

  async signIn(email: string): Promise<void> {
    const { page } = this;
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  /**
   * What axe-core finds in the page as it is.
   *
   * @param rules these alone, in place of all of the levels A and AA of WCAG 2.2.
   */
  async axe(rules?: readonly string[]): Promise<readonly string[]> {
    // Once for each document, through the debugger: the policy of the page lets no foreign script in.
    if (await this.page.evaluate<boolean>("typeof axe === 'undefined'")) await this.page.evaluate(AXE);
    const violations = await this.page.evaluate<AxeViolation[]>(
      `axe.run(document, {
         resultTypes: ['violations'],
         runOnly: ${JSON.stringify(rules === undefined ? LEVELS : { type: 'rule', values: rules })},
         rules: { 'label-content-name-mismatch': { enabled: true } },
       })
         .then(({ violations }) => violations)`,
    );
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`);
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
