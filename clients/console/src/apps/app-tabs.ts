/** The parts of an application's page, by their place in its address, in order. */
export const APP_TABS = {
  overview: 'Overview',
  auth: 'Authentication',
  proxy: 'Proxy',
  endpoints: 'Endpoints',
  limits: 'Limits',
  users: 'Users',
  usage: 'Usage',
  'auth-events': 'Sign-ins',
  settings: 'Settings',
} as const;

export type AppTab = keyof typeof APP_TABS;
