import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { api, read, type Schemas } from '../api/client';
import { useAddress, valuesOf } from '../design/address';
import { countText, moneyText, shareText, shortCountText } from '../design/amounts.rules';
import { useDebounced } from '../design/debounced';
import { SelectField, TextField } from '../design/field';
import { Badge, Card, EmptyState } from '../design/layout';
import { ListEnd } from '../design/list-end';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { wordOf } from '../design/words.rules';
import { useAppDraft } from './app-draft';
import { BlockButton } from './block-button';
import { lastMonths, userPath } from './user-address';

type User = Schemas['UserResponse'];

const PAGE = 50;

const SHOWN = [
  { value: 'any', label: 'All users' },
  { value: 'at_limit', label: 'At the limit' },
  { value: 'near_limit', label: '80% of the budget or more' },
  { value: 'active', label: 'Active' },
  { value: 'blocked', label: 'Blocked' },
] as const;

type Shown = (typeof SHOWN)[number]['value'];

const ORDERS = [
  { value: 'recent', label: 'Last seen' },
  { value: 'cost', label: 'Cost' },
  { value: 'budget', label: 'Share of the budget' },
] as const;

type Order = (typeof ORDERS)[number]['value'];

/** Users of the application, page by page. What is shown, and in which order, is in the address. */
export function UsersTab() {
  const { id } = useAppDraft();
  const [members] = useState(() => ({
    ...({ query: '', status: ['any', 'active', 'blocked'], at_limit: ['false', 'true'] } as const),
    min_budget_percent: ['0', '80'] as const,
    ...{ sort: valuesOf(ORDERS), month: lastMonths() },
  }));
  const [{ query: search, status, at_limit: atLimit, min_budget_percent: percent, sort, month }, change] =
    useAddress(members);
  const query = useDebounced(search).trim();
  const filter = {
    ...{ month, sort, limit: PAGE },
    ...(query === '' ? {} : { query }),
    ...(status === 'any' ? {} : { status }),
    ...(atLimit === 'true' ? { at_limit: atLimit } : percent === '80' ? { min_budget_percent: 80 } : {}),
  };
  const pages = useInfiniteQuery({
    queryKey: ['app', id, 'users', 'pages', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) =>
      read(
        api.GET('/v1/admin/apps/{app}/users', {
          params: { path: { app: id }, query: { ...filter, ...(cursor === undefined ? {} : { cursor }) } },
        }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const shown = atLimit === 'true' ? 'at_limit' : percent === '80' ? 'near_limit' : status;
  return (
    <>
      <Card title="Users" lead="Users who signed in, registered a device, or were named by your server." isFlush>
        <div className="flex flex-wrap items-end gap-3 border-b border-line p-3">
          <TextField
            label="Search users"
            isLabelHidden
            type="search"
            placeholder="Part of a user’s id"
            value={search}
            onChange={(text) => change({ query: text })}
            className="min-w-52 flex-1"
          />
          <SelectField label="Show" value={shown} options={SHOWN} onChange={(value) => change(addressOf(value))} />
          <SelectField label="Sort by" value={sort} options={ORDERS} onChange={(value) => change({ sort: value })} />
          <SelectField
            label="Month (UTC)"
            value={month}
            options={members.month.map((value) => ({ value, label: value }))}
            onChange={(value) => change({ month: value })}
          />
        </div>
        <Loaded query={pages} rows={8} isOld={pages.isPlaceholderData || query !== search.trim()}>
          {({ pages: [first, ...rest] }) =>
            first && (
              <Users
                app={id}
                list={{ ...first, users: [first, ...rest].flatMap(({ users }) => users) }}
                shown={shown}
                isSearched={query !== ''}
                sort={sort}
                onSort={(key) => change({ sort: key })}
              />
            )
          }
        </Loaded>
      </Card>
      <ListEnd pages={pages} />
    </>
  );
}

/** The members of the address that show these users. */
function addressOf(shown: Shown) {
  const isByBudget = shown === 'at_limit' || shown === 'near_limit';
  return {
    status: isByBudget ? ('any' as const) : shown,
    at_limit: shown === 'at_limit' ? ('true' as const) : ('false' as const),
    min_budget_percent: shown === 'near_limit' ? ('80' as const) : ('0' as const),
  };
}

function Users({
  app,
  list: { users, total, month, monthly_budget_usd: budgetUsd },
  shown,
  isSearched,
  sort,
  onSort,
}: {
  readonly app: string;
  readonly list: Schemas['UserListResponse'];
  readonly shown: Shown;
  readonly isSearched: boolean;
  readonly sort: Order;
  readonly onSort: (sort: Order) => void;
}) {
  const columns = useMemo(() => columnsOf(app, budgetUsd), [app, budgetUsd]);
  if (users.length === 0) {
    return <NoUsers app={app} shown={shown} isSearched={isSearched} month={month} budgetUsd={budgetUsd} />;
  }
  return (
    <>
      <Table
        caption="Users with the usage of the month"
        columns={columns}
        rows={users}
        rowKey={(user) => user.id}
        sorting={{ key: sort, isDescending: true }}
        onSort={({ key }) => onSort(key)}
      />
      <p className="border-t border-line p-3 text-sm text-muted">
        {countText(users.length)} of {countText(total)}
        {budgetUsd !== null && `; each may spend ${moneyText(budgetUsd)} a month`}
      </p>
    </>
  );
}

function NoUsers({
  app,
  shown,
  isSearched,
  month,
  budgetUsd,
}: {
  readonly app: string;
  readonly shown: Shown;
  readonly isSearched: boolean;
  readonly month: string;
  readonly budgetUsd: number | null;
}) {
  const isNear = shown === 'near_limit';
  if ((shown !== 'at_limit' && !isNear) || isSearched) {
    return <EmptyState title="No users">No user of this application matches.</EmptyState>;
  }
  return (
    <EmptyState title={isNear ? 'Nobody is near the limit' : 'Nobody is at the limit'}>
      {budgetUsd === null ? (
        <>
          Users of this application have no budget.{' '}
          <Link href={`/apps/${app}/limits`} className="text-accent underline">
            Set one
          </Link>
        </>
      ) : (
        `Each user may spend ${moneyText(budgetUsd)} a month, and nobody has spent ${isNear ? '80% of it' : 'it'} in ${month}.`
      )}
    </EmptyState>
  );
}

function columnsOf(app: string, budgetUsd: number | null): readonly Column<User, Order>[] {
  return [
    {
      key: 'id',
      header: 'User',
      cell: ({ id }) => (
        <Link
          href={userPath(app, id)}
          className="block max-w-40 truncate font-mono text-xs hover:text-accent hover:underline md:max-w-64"
          title={id}
        >
          {id}
        </Link>
      ),
    },
    {
      key: 'status',
      header: 'Status',
      isDetail: true,
      cell: (user) => <UserBadges user={user} />,
    },
    {
      key: 'seen',
      header: 'Last seen',
      isDetail: true,
      sortKey: 'recent',
      cell: ({ last_seen_at: at }) => (at === null ? 'never' : <Time at={at} isRelative />),
    },
    {
      key: 'requests',
      header: 'Requests',
      isNumber: true,
      isDetail: true,
      cell: ({ usage }) => countText(usage.requests),
    },
    {
      key: 'tokens',
      header: 'Tokens',
      isNumber: true,
      isDetail: true,
      cell: ({ usage }) => shortCountText(usage.input_tokens + usage.output_tokens),
    },
    {
      key: 'cost',
      header: 'Cost',
      isLead: true,
      isNumber: true,
      sortKey: 'cost',
      cell: ({ usage }) => moneyText(usage.cost_usd),
    },
    ...(budgetUsd === null ? [] : [budgetColumn(budgetUsd)]),
    {
      key: 'acts',
      header: 'Actions',
      isLead: true,
      isNumber: true,
      cell: (user) => <BlockButton app={app} user={user} />,
    },
  ];
}

function budgetColumn(budgetUsd: number): Column<User, Order> {
  return {
    key: 'budget',
    header: 'Budget used',
    isNumber: true,
    sortKey: 'budget',
    cell: ({ budget_spent_usd: spent }) => (
      <Badge tone={spent >= budgetUsd ? 'bad' : spent >= budgetUsd * 0.8 ? 'warn' : 'neutral'}>
        {budgetUsd === 0 ? 'no budget left' : shareText(spent, budgetUsd)}
      </Badge>
    ),
  };
}

/** What is special about a user. */
export function UserBadges({ user }: { readonly user: User }) {
  return (
    <span className="flex flex-wrap gap-1.5">
      <Badge tone={user.status === 'blocked' ? 'bad' : 'good'}>{wordOf(user.status)}</Badge>
      {user.at_limit && <Badge tone="bad">At the limit</Badge>}
      {user.attest_registered && <Badge>Device verified</Badge>}
    </span>
  );
}
