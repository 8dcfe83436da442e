/** Applications of a small company, for accounts that people look at. */
const ROUTING = { providers: { mode: 'all' }, model_rewrites: {} };
const WITH_KEY = { type: 'api_key' };
const WITH_CUSTOMERS = { ...WITH_KEY, end_user: { source: 'header', header: 'x-customer-id' } };

/** What is known of each; all of them reach every provider. */
const KINDS = [
  {
    name: 'Journal for iOS',
    authentication: onPhones('com.example.journal'),
    limits: { per_user: { requests: { per_minute: 10, per_day: 300 } }, per_app: { spending: { monthly_usd: 40 } } },
    endpoints: { summarize: endpoint('gpt-4.1-mini'), 'suggest-title': endpoint('gpt-4.1-nano') },
  },
  {
    name: 'Support desk',
    authentication: WITH_CUSTOMERS,
    limits: { per_app: { spending: { monthly_usd: 25 } } },
    endpoints: { 'draft-reply': endpoint('gpt-4.1'), classify: endpoint('gpt-4.1-nano') },
  },
  {
    name: 'Recipe coach',
    authentication: onPhones('com.example.recipes'),
    limits: { per_user: { requests: { per_minute: 10, per_day: 300 } } },
  },
  { name: 'Invoice reader', authentication: WITH_KEY, limits: { per_app: { requests: { per_minute: 120 } } } },
  { name: 'Translation worker', authentication: WITH_KEY },
  { name: 'Playground', authentication: WITH_KEY },
];

function onPhones(bundle_id: string) {
  const app_attest = { team_id: 'ABCDE12345', bundle_id, environments: ['production'] };
  return { type: 'device_app_attest', end_user: { source: 'app_install' }, app_attest };
}

function endpoint(model: string) {
  return { api_style: 'responses', provider: 'openai', model, fallback: [{ provider: 'xai', model: 'grok-4.3' }] };
}

/** Bodies that create them, the busiest first. */
export const APPS = KINDS.map(({ name, ...config }) => ({ name, config: { routing: ROUTING, ...config } }));
