import OpenAI from 'openai';
import { fact, heading, remark, write } from './screen.js';
import { client, type Demo, QUESTION } from './story.js';

const USER_HEADER = 'x-user-id';
/** One response of the story costs more than this: the call that exceeds a budget succeeds, the next one is refused. */
const MONTHLY_USD = 0.000_05;
const REQUESTS_PER_DAY = 2;

/**
 * Calls an application with limits until its user has spent the budget and all users together have used up the
 * requests.
 */
export async function reachLimits(demo: Demo): Promise<void> {
  heading('7. Limit what users may spend, and how often the application may be called');
  const { app, api_key } = await demo.api.post('apps', {
    name: 'Demo with limits',
    config: {
      authentication: { type: 'api_key', end_user: { source: 'header', header: USER_HEADER } },
      routing: { providers: { mode: 'all' }, model_rewrites: {} },
      limits: {
        per_user: { spending: { monthly_usd: MONTHLY_USD } },
        per_app: { requests: { per_day: REQUESTS_PER_DAY } },
      },
    },
  });
  fact('Application', `${app.id}, ${REQUESTS_PER_DAY} requests a day, $${MONTHLY_USD} a month for each user`);
  const url = `${demo.url}/v1/apps/${app.id}`;
  const caller = { ...demo.app, key: api_key.key };
  const ask = async (user: string): Promise<void> => fact(`As ${user}`, await outcome(caller, `${url}/proxy`, user));
  await ask('ada');
  await ask('ada');
  await ask('bob');
  await ask('cyd');
  write('\n');
  remark(`GET ${url}/me tells users how they stand:`);
  const headers = { authorization: `Bearer ${api_key.key}`, [USER_HEADER]: 'ada' };
  const standing: unknown = await (await fetch(`${url}/me`, { headers })).json();
  fact('ada', JSON.stringify(standing));
}

/** The result of a call, in words. */
async function outcome(app: Demo['app'], proxyUrl: string, user: string): Promise<string> {
  const messages = [{ role: 'user' as const, content: QUESTION }];
  const options = { headers: { [USER_HEADER]: user } };
  const error: unknown = await client(app, `${proxyUrl}/openai/v1`)
    .chat.completions.create({ model: app.model, messages }, options)
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  if (error === undefined) return 'answered';
  if (!(error instanceof OpenAI.APIError)) throw error;
  return `${error.code}, Retry-After ${error.headers?.get('retry-after')}: ${error.message}`;
}
