import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, read } from '../api/client.js';
import type { App } from '../apps/apps.js';
import type { Terminal } from '../terminal/terminal.js';
import type { AppConfig, DesiredApp, DesiredProvider } from './configuration-files.js';

const CONCURRENCY = 8;

type Provider = components['schemas']['ProviderResource'];
type Summary = components['schemas']['AppSummaryResponse'];

/** A provider of the account, as a file would describe it. */
export interface CurrentProvider extends DesiredProvider {
  readonly id: string;
  readonly revision: number;
}

/** An application of the account, as a file would describe it. */
export interface CurrentApp extends DesiredApp {
  readonly id: string;
  readonly revision: number;
  readonly users: number;
}

/** What an account holds. */
export interface AccountState {
  readonly providers: readonly CurrentProvider[];
  /** Ids of the provider gateways by name; names that are not unique are left out. */
  readonly gateways: ReadonlyMap<string, string | undefined>;
  readonly apps: readonly Summary[];
}

/** Everything but the configurations of applications. */
export async function readAccount(api: Api): Promise<AccountState> {
  const [{ providers }, { gateways }, { apps }] = await Promise.all([
    read(api.GET('/v1/admin/providers')),
    read(api.GET('/v1/admin/provider-gateways')),
    read(api.GET('/v1/admin/apps')),
  ]);
  const named = new Map<string, string | undefined>();
  for (const { id, name } of gateways) named.set(name, named.has(name) ? undefined : id);
  const names = new Map(gateways.map(({ id, name }) => [id, name]));
  return { providers: providers.map((provider) => currentProvider(provider, names)), gateways: named, apps };
}

function currentProvider(provider: Provider, gateways: ReadonlyMap<string, string>): CurrentProvider {
  const { id, revision, slug, type, name, status, baseUrl, providerGatewayId, gatewayRoute, pricing } = provider;
  const providerGateway = providerGatewayId === null ? null : (gateways.get(providerGatewayId) ?? providerGatewayId);
  const route = Object.keys(gatewayRoute ?? {}).length === 0 ? null : gatewayRoute;
  const described = { slug, type, name, status, baseUrl, providerGateway, gatewayRoute: route, pricing };
  return { id, revision, ...described, secret: null, movedFrom: [] };
}

/** The applications with their configurations, a few at a time. */
export async function readApps(
  api: Api,
  summaries: readonly Summary[],
  terminal: Pick<Terminal, 'tell'>,
): Promise<CurrentApp[]> {
  const apps: CurrentApp[] = [];
  for (let start = 0; start < summaries.length; start += CONCURRENCY) {
    terminal.tell(`Reading applications: ${start} of ${summaries.length}`);
    apps.push(
      ...(await Promise.all(summaries.slice(start, start + CONCURRENCY).map((summary) => readApp(api, summary)))),
    );
  }
  return apps;
}

/** An application with its configuration. */
export async function readApp(api: Api, { id, users }: Pick<Summary, 'id' | 'users'>): Promise<CurrentApp> {
  const { app } = await read(api.GET('/v1/admin/apps/{app}', { params: { path: { app: id } } }));
  return currentApp(app, users.total);
}

/** An application as a file would describe it. */
function currentApp({ id, revision, handle, name, status, config }: App, users: number): CurrentApp {
  return { id, revision, users, handle: handle ?? id, name, status, config: config as AppConfig, movedFrom: [] };
}

/** The application that a file names: by its handle, else by its id. */
export function summaryOf(apps: readonly Summary[], named: string): Summary | undefined {
  return apps.find(({ handle }) => handle === named) ?? apps.find(({ id }) => id === named);
}
