/** Pages of the console, and their addresses. */
export const PAGES: readonly (readonly [name: string, path: string])[] = [
  ['overview', '/'],
  ['apps', '/apps'],
  ['providers', '/providers'],
  ['provider-gateways', '/providers/gateways'],
  ['usage', '/usage'],
  ['models', '/models'],
  ['account', '/access'],
  ['members', '/members'],
  ['audit', '/audit'],
  ['health', '/health'],
  ['profile', '/settings/profile'],
  ['security', '/settings/security'],
  ['start', '/start'],
];

/** Pages of an application. */
export const APP_TABS: readonly string[] = [
  ...['overview', 'auth', 'proxy', 'endpoints', 'limits', 'users', 'usage', 'auth-events', 'settings'],
];
