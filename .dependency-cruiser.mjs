/** Which rooms a room may import, besides `common` and `platform`. What is not listed is forbidden (docs/architecture.md). */
const ARROWS = {
  upstreams: [],
  identity: [],
  health: [],
  metrics: [],
  pricing: ['upstreams', 'identity'],
  'app-directory': ['upstreams', 'identity'],
  gateways: ['identity', 'upstreams', 'allowance'],
  providers: ['identity', 'pricing', 'upstreams', 'gateways', 'allowance'],
  keys: ['identity', 'app-directory', 'allowance'],
  budgets: [],
  allowance: ['identity'],
  usage: ['identity', 'app-directory', 'pricing', 'upstreams', 'budgets', 'limits', 'allowance'],
  apps: ['identity', 'app-directory', 'keys', 'providers', 'pricing', 'upstreams', 'allowance'],
  limits: [],
  organizations: ['identity', 'limits'],
  issuers: ['app-directory'],
  users: ['identity', 'app-directory', 'usage'],
  attestation: ['app-directory', 'users'],
  'auth-events': ['identity', 'app-directory', 'usage', 'users'],
  'client-auth': ['identity', 'app-directory', 'keys', 'providers', 'users', 'usage', 'limits'],
  'token-exchange': [
    'app-directory',
    'attestation',
    'auth-events',
    'client-auth',
    'issuers',
    'keys',
    'limits',
    'users',
  ],
  retention: ['attestation', 'auth-events', 'usage', 'budgets'],
  proxy: [
    'client-auth',
    'app-directory',
    'providers',
    'usage',
    'users',
    'pricing',
    'upstreams',
    'limits',
    'budgets',
    'allowance',
  ],
};

const rooms = Object.keys(ARROWS);

const roomRules = rooms.map((room) => ({
  name: `arrows-of-${room}`,
  comment: `${room} may import only: ${['common', 'platform', ...ARROWS[room]].join(', ')}`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: `^src/(${[room, 'common', 'platform', ...ARROWS[room]].join('|')})/` },
}));

export default {
  forbidden: [
    ...roomRules,
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
      from: { path: '^src/[^/]+/', pathNot: `^src/(common|platform|documentation|${rooms.join('|')})/` },
      to: {},
    },
    {
      name: 'no-circular',
      comment: 'A cycle crashes at start with ES modules and decorators.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'sql-only-in-repositories',
      comment: 'Only repositories, modules’ wiring and the platform talk to the database driver.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/platform/database/' },
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
      to: { path: '^(test|bench)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
