interface HelpPage {
  readonly to: string;
  readonly title: string;
}

/**
 * Pages of the console, or the beginnings of their addresses, and what to read about them. A test follows each link.
 */
export const HELP: Readonly<Record<string, HelpPage>> = {
  '/start': { to: '/docs#the-first-request-in-five-minutes', title: 'The first request' },
  '/apps': { to: '/docs/reference/management-api#applications', title: 'How an application works' },
  '/apps/:app/auth': { to: '/docs/guides/users-and-sign-ins', title: 'Users and sign-ins' },
  '/apps/:app/proxy': { to: '/docs/reference/application-api#proxy-paths', title: 'Which paths can be called' },
  '/apps/:app/endpoints': { to: '/docs/guides/named-endpoints', title: 'How a named endpoint works' },
  '/apps/:app/limits': { to: '/docs/guides/limits-and-budgets', title: 'What happens at a limit' },
  '/apps/:app/users': { to: '/docs/guides/users-and-sign-ins#block-a-user', title: 'How to block a user' },
  '/apps/:app/usage': { to: '/docs/reference/accounting#usage-records', title: 'What is recorded of a call' },
  '/apps/:app/auth-events': {
    to: '/docs/guides/users-and-sign-ins#why-do-sign-ins-fail',
    title: 'Why a sign-in fails',
  },
  '/usage': { to: '/docs/reference/accounting', title: 'How costs are computed' },
  '/models': { to: '/docs/reference/accounting#prices', title: 'Where prices come from' },
  '/providers': { to: '/docs/reference/management-api#providers', title: 'How a provider is set up' },
  '/providers/gateways': { to: '/docs/guides/upstream-gateways', title: 'How an upstream gateway works' },
  '/access': { to: '/docs/reference/management-api#credentials-and-permissions', title: 'Credentials and permissions' },
  '/members': { to: '/docs/reference/management-api#roles-and-grants', title: 'What each role may do' },
  '/webhooks': { to: '/docs/guides/webhooks', title: 'How a webhook works' },
  '/settings/mail': { to: '/docs/reference/webhooks#mail', title: 'How mail works' },
  '/audit': { to: '/docs/reference/management-api#accounts', title: 'How an account works' },
  '/health': { to: '/docs/monitoring', title: 'How to monitor the gateway' },
};

/** The help of a page, or of the page above it. */
export function helpOf(path: string): HelpPage | undefined {
  const general = path.replace(/^\/apps\/(?!new(?:\/|$))[^/]+/, '/apps/:app');
  const own = HELP[general];
  if (own !== undefined || general === '' || general === '/') return own;
  return helpOf(general.slice(0, general.lastIndexOf('/')));
}

/** Where an error code of the API is explained; undefined for messages of the console. */
export function errorHelpOf(code: string): string | undefined {
  return /^(?!http_|offline$)[a-z][a-z0-9_]*$/.test(code) ? `/docs/errors#${code}` : undefined;
}
