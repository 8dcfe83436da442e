import type { components } from '../../console/src/api/schema.d.ts';
import { type Api, given, read } from '../api/client.js';

type Schemas = components['schemas'];
type UsageEvent = Schemas['UsageEventResponse'];
type AuthEvent = Schemas['AuthEventResponse'];

/** An application whose events are followed. */
interface FollowedApp {
  readonly id: string;
  /** Its name for people. */
  readonly handle: string;
}

/** An event, and the application it belongs to. */
export type Followed = { readonly app: FollowedApp } & (
  | { readonly kind: 'usage'; readonly event: UsageEvent }
  | { readonly kind: 'auth'; readonly event: AuthEvent }
);

/** Which events are followed; undefined: all. */
interface FeedFilter {
  /** One application; undefined: all of the account. */
  readonly app: FollowedApp | undefined;
  /** Whether authentication events are among them. */
  readonly hasSignIns: boolean;
  readonly status: UsageEvent['status'] | undefined;
  readonly model: string | undefined;
  readonly user: string | undefined;
  /** Slug or type. */
  readonly provider: string | undefined;
  /** Id of a key of an application. */
  readonly key: string | undefined;
}

const PAGE = 200;
const MOST_PAGES = 25;
/** Instances write their events slightly out of order; this many seen ones are remembered. */
const REMEMBERED = 5_000;
const CONCURRENCY = 8;

interface AppFeed {
  /** The month and its requests when its calls were read; a call changes it. */
  mark: string | undefined;
  readonly calls: Seen<UsageEvent>;
  readonly signIns: Seen<AuthEvent>;
}

/** The events of an application, or of all of an account, as they are recorded. */
export class Feed {
  private readonly feeds = new Map<string, AppFeed>();
  private isFirst = true;

  constructor(
    private readonly api: Api,
    private readonly filter: FeedFilter,
    /** The number of past events to show. */
    private readonly lines: number,
  ) {}

  /** New events, oldest first. The first time: the latest past events. */
  async next(): Promise<readonly Followed[]> {
    const apps = await this.apps();
    const found: Followed[] = [];
    for (let start = 0; start < apps.length; start += CONCURRENCY) {
      const some = apps.slice(start, start + CONCURRENCY);
      found.push(...(await Promise.all(some.map(([app, mark]) => this.ofApp(app, mark)))).flat());
    }
    found.sort((one, other) => one.event.created_at.localeCompare(other.event.created_at));
    const past = this.isFirst ? found.slice(Math.max(found.length - this.lines, 0)) : found;
    this.isFirst = false;
    return past;
  }

  /** The applications, each with a value that its calls change; undefined if unknown. */
  private async apps(): Promise<readonly (readonly [FollowedApp, string | undefined])[]> {
    if (this.filter.app !== undefined) return [[this.filter.app, undefined]];
    const { apps, month } = await read(this.api.GET('/v1/admin/apps'));
    return apps.map(({ id, handle, usage }) => [{ id, handle: handle ?? id }, `${month} ${usage.requests}`]);
  }

  private async ofApp(app: FollowedApp, mark: string | undefined): Promise<Followed[]> {
    const feed = this.feeds.get(app.id) ?? this.begin(app.id);
    const isUnchanged = mark !== undefined && mark === feed.mark;
    const calls = isUnchanged ? [] : await feed.calls.next(this.lines);
    feed.mark = mark;
    const signIns = this.filter.hasSignIns ? await feed.signIns.next(this.lines) : [];
    return [
      ...calls.map((event) => ({ app, kind: 'usage' as const, event })),
      ...signIns.map((event) => ({ app, kind: 'auth' as const, event })),
    ];
  }

  /** All events of a new application are new. */
  private begin(id: string): AppFeed {
    const known = this.isFirst ? undefined : [];
    const feed = {
      mark: undefined,
      calls: new Seen(
        (before) => this.calls(id, before),
        (event: UsageEvent) => this.isWanted(event),
        known,
      ),
      signIns: new Seen(
        (before) => this.signIns(id, before),
        (_event: AuthEvent) => true,
        known,
      ),
    };
    this.feeds.set(id, feed);
    return feed;
  }

  private isWanted({ provider, provider_slug, api_key_id }: UsageEvent): boolean {
    const { provider: wanted, key } = this.filter;
    return (
      (wanted === undefined || provider_slug === wanted || provider === wanted) &&
      (key === undefined || api_key_id === key)
    );
  }

  private calls(app: string, before_id: number | undefined): Promise<Page<UsageEvent>> {
    const { status, model, user } = this.filter;
    const query = { limit: PAGE, ...given({ before_id, status, model, user }) };
    return read(this.api.GET('/v1/admin/apps/{app}/events', { params: { path: { app }, query } }));
  }

  private signIns(app: string, before_id: number | undefined): Promise<Page<AuthEvent>> {
    const query = { limit: PAGE, ...given({ before_id, user: this.filter.user }) };
    return read(this.api.GET('/v1/admin/apps/{app}/auth-events', { params: { path: { app }, query } }));
  }
}

interface Page<T> {
  readonly events: readonly T[];
  readonly next_before_id: number | null;
}

/** The new events of a list. */
class Seen<T extends { readonly id: number }> {
  constructor(
    private readonly page: (beforeId: number | undefined) => Promise<Page<T>>,
    private readonly isWanted: (event: T) => boolean,
    /** Undefined: past events were not read yet. */
    private known: readonly number[] | undefined,
  ) {}

  /** @param lines of past events to show, the first time. */
  async next(lines: number): Promise<readonly T[]> {
    const known = new Set(this.known);
    const fresh: T[] = [];
    let before: number | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const { events, next_before_id } = await this.page(before);
      const unseen = events.filter(({ id }) => !known.has(id));
      fresh.push(...unseen);
      const isRead = this.known === undefined ? this.wanted(fresh).length >= lines : unseen.length < events.length;
      if (isRead || next_before_id === null) break;
      before = next_before_id;
    }
    this.known = [...fresh.map(({ id }) => id), ...known].slice(0, REMEMBERED);
    return this.wanted(fresh);
  }

  private wanted(events: readonly T[]): T[] {
    return events.filter((event) => this.isWanted(event));
  }
}
