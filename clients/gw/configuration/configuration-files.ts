import type { components } from '../../console/src/api/schema.d.ts';
import { renderYaml } from './yaml-file.js';

/** A configuration as the API returns it. */
export type AppConfig = components['schemas']['AppConfig'];

/** An application as a file describes it. */
export interface DesiredApp {
  /** Names the application: a handle, or the id of one without. */
  readonly handle: string;
  readonly name: string;
  readonly status: 'active' | 'disabled';
  readonly config: AppConfig;
  /** Handles that it had before. */
  readonly movedFrom: readonly string[];
}

/** Where the key of a provider is: in one of them. */
export interface SecretReference {
  /** Name of an environment variable. */
  readonly env: string | null;
  /** Path of a file. */
  readonly file: string | null;
}

/** A provider as a file describes it: never with its key. */
export interface DesiredProvider {
  readonly slug: string;
  readonly type: string;
  readonly name: string;
  readonly status: 'active' | 'disabled';
  readonly baseUrl: string | null;
  /** Name of the provider gateway that has the key. */
  readonly providerGateway: string | null;
  readonly gatewayRoute: object | null;
  readonly pricing: object | null;
  /** Null: in the variable of its slug. */
  readonly secret: SecretReference | null;
  /** Slugs of providers that it replaces. */
  readonly movedFrom: readonly string[];
}

export const PROVIDERS_FILE = 'providers.yaml';
export const APPS_FOLDER = 'apps';
export const ENVIRONMENTS_FOLDER = 'environments';
export const SCHEMAS_FOLDER = 'schemas';
export const APP_SCHEMA = 'app.schema.json';
export const PROVIDERS_SCHEMA = 'providers.schema.json';
export const ENVIRONMENT_SCHEMA = 'environment.schema.json';

const APP_HEAD = `An application of the gateway. "gw plan" shows the effect of a change, "gw apply" makes it.`;
const PROVIDERS_HEAD =
  `Providers of the account, without their keys. "gw apply" creates a missing provider with ` +
  `the key in GW_PROVIDER_SECRET_<SLUG>. Prices are in US dollars per million tokens.`;
const APP_COMMENTS = {
  handle: 'The handle of the application for scripts and files, or its id.',
  status: 'active, or disabled: calls are refused.',
  'config.authentication': 'How callers authenticate, and how their users are identified.',
  'config.routing': 'Which providers, paths and models calls may reach, and which models are replaced.',
  'config.limits': 'Limits on requests and spending, for each user and for the application. null: no limit.',
  'config.endpoints': 'Named endpoints: provider, model, parameters and fallbacks behind a stable URL.',
  'config.allowed_origins': 'Origins whose pages may call, exactly as browsers send them.',
  'config.streams': 'How long answers are kept, in seconds after their end, so that a lost connection can be resumed.',
};

/** The text of an application's file. */
export function appFileText({ name, handle, status, config }: Omit<DesiredApp, 'movedFrom'>): string {
  return renderYaml(
    { name, handle, status, config },
    { schema: `../${SCHEMAS_FOLDER}/${APP_SCHEMA}`, head: APP_HEAD, comments: APP_COMMENTS },
  );
}

/** The text of the providers' file. */
export function providersFileText(providers: readonly Omit<DesiredProvider, 'secret' | 'movedFrom'>[]): string {
  const sorted = providers.toSorted((one, other) => (one.slug < other.slug ? -1 : 1)).map(writtenProvider);
  return renderYaml(
    { providers: sorted },
    { schema: `${SCHEMAS_FOLDER}/${PROVIDERS_SCHEMA}`, head: PROVIDERS_HEAD, comments: {} },
  );
}

/** Without empty members. */
function writtenProvider(provider: object): object {
  return Object.fromEntries(Object.entries(provider).filter(([, value]) => value !== null));
}
