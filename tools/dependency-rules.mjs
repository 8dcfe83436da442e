/**
 * Which rooms a room may import, besides `common` and `platform`. Everything else is forbidden (docs/architecture.md).
 */
const ARROWS = {
  upstreams: [],
  accounts: [],
  webhooks: ['accounts'],
  budgets: [],
  console: [],
  pricing: ['upstreams', 'accounts'],
  'app-directory': ['upstreams', 'accounts'],
  idempotency: ['accounts'],
  usage: ['accounts', 'app-directory', 'pricing', 'upstreams', 'budgets'],
  limits: ['accounts', 'usage'],
  providers: ['accounts', 'pricing', 'upstreams', 'limits', 'idempotency'],
  'app-keys': ['accounts', 'app-directory', 'limits', 'idempotency'],
  users: ['accounts', 'app-directory', 'usage', 'limits'],
  attention: ['accounts', 'usage'],
  repricing: ['accounts', 'app-directory', 'upstreams', 'pricing', 'budgets', 'providers', 'usage'],
  'sign-in': ['accounts'],
  consent: ['accounts', 'sign-in', 'console'],
  'client-auth': ['accounts', 'app-directory', 'app-keys', 'providers', 'users', 'usage', 'limits'],
  proxy: ['client-auth', 'app-directory', 'providers', 'usage', 'users', 'pricing', 'upstreams', 'limits', 'budgets'],
  apps: [
    'accounts',
    'app-directory',
    'app-keys',
    'providers',
    'pricing',
    'upstreams',
    'limits',
    'budgets',
    'idempotency',
    'proxy',
    'users',
    'usage',
  ],
  cli: [
    'accounts',
    'sign-in',
    'console',
    'idempotency',
    'app-directory',
    'app-keys',
    'apps',
    'providers',
    'upstreams',
    'usage',
  ],
  mcp: [
    'accounts',
    'app-directory',
    'app-keys',
    'apps',
    'client-auth',
    'cli',
    'pricing',
    'providers',
    'usage',
    'users',
    'webhooks',
  ],
  mail: ['accounts', 'webhooks'],
  retention: ['client-auth', 'usage', 'providers', 'webhooks'],
  health: ['accounts', 'pricing', 'retention'],
};

/** Parts of rooms with separate arrows: what a part may import, besides itself, `common` and `platform`. */
const PARTS = {
  'usage/recording': ['app-directory', 'pricing', 'upstreams', 'budgets'],
  'usage/reports': ['accounts', 'app-directory', 'upstreams', 'usage/recording'],
  'usage/exports': ['accounts', 'app-directory', 'usage/recording', 'usage/reports'],
  'limits/requests': ['usage/recording'],
  'limits/plans': ['accounts', 'usage/recording'],
  'client-auth/callers': [
    ...['app-directory', 'app-keys', 'providers', 'users', 'usage', 'limits/requests', 'client-auth/origins'],
  ],
  'client-auth/devices': ['accounts', 'app-directory', 'users'],
  'client-auth/events': ['accounts', 'app-directory', 'usage', 'users'],
  'client-auth/issuers': ['app-directory'],
  'client-auth/origins': ['app-directory'],
  'client-auth/exchange': [
    ...['app-directory', 'app-keys', 'users'],
    ...['client-auth/callers', 'client-auth/devices', 'client-auth/events', 'client-auth/issuers'],
    'client-auth/origins',
  ],
  'client-auth/framework': [
    ...['app-directory', 'providers', 'client-auth/callers', 'client-auth/devices', 'client-auth/exchange'],
    'client-auth/origins',
  ],
  'client-auth/preview': [
    ...['accounts', 'app-directory', 'client-auth/callers', 'client-auth/devices', 'client-auth/events'],
  ],
  'health/metrics': [],
  'console/pages': [],
};

const rooms = Object.keys(ARROWS);

/** What a folder of `src` may import, besides itself. */
const arrowRule = (name, folder, arrows) => ({
  name,
  comment: `${folder} may import only: ${['common', 'platform', ...arrows].join(', ')}`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: `^src/(${[folder, 'common', 'platform', ...arrows].join('|')})/` },
});

const roomRules = rooms.map((room) => arrowRule(`arrows-of-${room}`, room, ARROWS[room]));
const partRules = Object.entries(PARTS).map(([part, arrows]) =>
  arrowRule(`parts-${part.replace('/', '-')}`, part, arrows),
);

export default {
  forbidden: [
    ...roomRules,
    ...partRules,
    {
      name: 'access-knows-no-members',
      comment: 'Who may call a route does not depend on the management of members and invitations.',
      severity: 'error',
      from: { path: '^src/accounts/', pathNot: '^src/accounts/organizations/' },
      to: { path: '^src/accounts/organizations/' },
    },
    {
      name: 'common-knows-nobody',
      severity: 'error',
      from: { path: '^src/common/' },
      to: { path: '^(src|migrations)/', pathNot: '^src/common/' },
    },
    {
      name: 'platform-knows-only-common',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/', pathNot: '^src/(common|platform)/' },
    },
    {
      name: 'every-room-has-arrows',
      comment: 'A new folder under src needs its line in ARROWS.',
      severity: 'error',
      from: {
        path: '^src/[^/]+/',
        pathNot: `^src/(common|platform|commands|bootstrap|${rooms.join('|')})/`,
      },
      to: {},
    },
    {
      name: 'clients-know-only-the-api',
      comment: 'A client is no part of the service: it has the types of the API, and nothing else of it.',
      severity: 'error',
      from: { path: '^clients/([^/]+)/' },
      to: {
        path: '^(src|clients|migrations)/',
        pathNot: ['^clients/$1/', '^clients/console/src/api/schema\\.d\\.ts$'],
      },
    },
    {
      name: 'nobody-knows-clients',
      severity: 'error',
      from: { path: '^(src|migrations)/' },
      to: { path: '^clients/' },
    },
    {
      name: 'no-circular',
      comment: 'A cycle crashes at start with ES modules and decorators.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'skeletons-only-of-loaded',
      comment:
        'A page shows what it asked for by `Loaded`: a skeleton of its own stays for ever where no answer comes.',
      severity: 'error',
      from: { path: '^clients/console/', pathNot: '^clients/console/src/design/' },
      to: { path: '^clients/console/src/design/skeleton\\.tsx$' },
    },
    {
      name: 'sql-only-in-repositories',
      comment: 'Only repositories, modules’ wiring and the platform talk to the database driver.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/platform/(database|embedded-postgres)/' },
      to: { path: '^node_modules/pg/' },
    },
    {
      name: 'rules-are-pure',
      comment: 'Rules know no framework and no database.',
      severity: 'error',
      from: { path: '\\.rules\\.ts$', pathNot: 'framework-error\\.rules\\.ts$' },
      to: { path: '^node_modules/(@nestjs|typeorm|pg|fastify)/' },
    },
    {
      name: 'no-tests-in-production',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(test|examples|tools)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
