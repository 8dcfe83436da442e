import { deploymentAt, sessionOf, urlOf } from '../api/session.js';
import { appIdOf } from '../apps/apps.js';
import type { Action } from '../program/command.js';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { openBrowser } from '../terminal/browser.js';
import { APP_TABS, PAGES } from './console-pages.js';

/** `gw open` */
export const open: Action = async (gw) => {
  const page = gw.optionalArgument(0);
  const named = gw.text('app');
  requireFitting(page, named);
  const url = named === undefined ? await pageOf(gw, page) : await appPageOf(gw, named, page);
  const opens = gw.isLeft('open') && gw.mayWait && gw.environment.hasBrowser;
  if (opens) await openBrowser(url);
  return { result: { url, opened: opens }, text: opens ? `Opening ${url}` : url };
};

async function pageOf(gw: Invocation, page: string | undefined): Promise<string> {
  const { capabilities } = await deploymentAt(urlOf(gw), gw.context);
  return `${capabilities.consoleOrigin}${PAGES.find(([name]) => name === page)?.[1] ?? '/'}`;
}

async function appPageOf(gw: Invocation, named: string, tab = 'overview'): Promise<string> {
  const { api, capabilities } = await sessionOf(gw);
  return `${capabilities.consoleOrigin}/apps/${encodeURIComponent(await appIdOf(api, named))}/${tab}`;
}

/** @throws Failure a page of an application without one, or the other way round. */
function requireFitting(page: string | undefined, app: string | undefined): void {
  const known = app === undefined ? PAGES.map(([name]) => name) : APP_TABS;
  if (page === undefined || known.includes(page)) return;
  const nextAction = app === undefined ? 'Name the application: --app <app>' : `Those are ${known.join(', ')}.`;
  const what = app === undefined ? 'a page of an application' : 'no page of an application';
  throw Failure.input('invalid_option', `"${page}" is ${what}.`, { nextAction });
}
