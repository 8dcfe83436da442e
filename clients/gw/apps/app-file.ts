import { readFileSync } from 'node:fs';
import type { components } from '../../console/src/api/schema.d.ts';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';
import { STATUSES } from './app-choices.js';

/** An application before it exists. */
export type AppDraft = components['schemas']['CreateAppRequest'];

const MEMBERS = ['name', 'handle', 'status', 'config'];
/** The defaults of the console for a new mobile application. */
const MOBILE_LIMITS = { per_user: { requests: { per_minute: 10, per_day: 300 } } };

/** The application in the file of `--file`. The service validates its configuration. @throws Failure */
export async function fileOf(path: string): Promise<AppDraft> {
  const { name, handle, status, config, ...others } = await parsedFile(path);
  const problems = [
    ...Object.keys(others).map((unknown) => `${unknown}: is not a known member; use ${MEMBERS.join(', ')}`),
    ...(typeof name === 'string' ? [] : ['name: is missing']),
    ...(typeof config === 'object' && config !== null ? [] : ['config: is missing']),
  ];
  if (problems.length > 0 || typeof name !== 'string') throw wrong(path, problems.join('; '));
  return {
    ...{ name, config: config as AppDraft['config'] },
    ...(handle !== undefined && { handle: handle as string | null }),
    ...(status !== undefined && { status: status as NonNullable<AppDraft['status']> }),
  };
}

async function parsedFile(path: string): Promise<Record<string, unknown>> {
  const { parse } = await import('yaml');
  let content: unknown;
  try {
    content = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw wrong(path, error instanceof Error ? error.message : String(error));
  }
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return { ...content };
  throw wrong(path, 'must hold an application: {name, handle?, status?, config}');
}

/** The application that the flags of `gw app add` describe. @throws Failure one is missing. */
export function draftOf(gw: Invocation): AppDraft {
  const [type, handle] = [gw.required('type'), gw.text('handle')];
  const status = gw.choice('status', STATUSES);
  return {
    ...{ name: gw.required('name'), config: type === 'server' ? serverConfig(gw) : mobileConfig(gw) },
    ...(handle !== undefined && { handle }),
    ...(status !== undefined && { status }),
  };
}

function serverConfig(gw: Invocation): AppDraft['config'] {
  return { authentication: { type: 'api_key' }, routing: routingOf(gw) };
}

function mobileConfig(gw: Invocation): AppDraft['config'] {
  const environments = gw
    .text('attestEnvironments')
    ?.split(',')
    .map((name) => name.trim());
  const appAttest = {
    ...{ team_id: gw.required('teamId'), bundle_id: gw.required('bundleId') },
    environments: (environments ?? ['production']) as ('production' | 'development')[],
  };
  return {
    authentication: { type: 'device_app_attest', end_user: { source: 'app_install' }, app_attest: appAttest },
    ...{ routing: routingOf(gw), limits: MOBILE_LIMITS },
  };
}

function routingOf(gw: Invocation): AppDraft['config']['routing'] {
  const slugs = gw.texts('provider');
  if (slugs === undefined) return { providers: { mode: 'all' }, model_rewrites: {} };
  const selected = Object.fromEntries(slugs.map((slug) => [slug, { allowed_paths: [], allowed_models: [] }]));
  return { providers: { mode: 'selected', selected }, model_rewrites: {} };
}

function wrong(path: string, problem: string): Failure {
  return Failure.input('invalid_file', `${path}: ${problem}`, {
    nextAction: 'See the shape of one: gw app show <app> --json',
  });
}
