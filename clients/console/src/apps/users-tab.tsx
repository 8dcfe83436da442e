import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { useAddress, valuesOf } from '../design/address';
import { countText, moneyText, shortCountText } from '../design/amounts.rules';
import { Button } from '../design/button';
import { useDebounced } from '../design/debounced';
import { SelectField, TextField } from '../design/field';
import { Badge, Card, EmptyState } from '../design/layout';
import { Loaded } from '../design/loaded';
import { type Column, Table } from '../design/table';
import { Time } from '../design/time';
import { useToast } from '../design/toast';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';

type User = Schemas['UserResponse'];

const PAGE = 25;
const MONTHS = 12;
const STATUSES = [
  { value: 'any', label: 'Any status' },
  { value: 'active', label: 'Active' },
  { value: 'blocked', label: 'Blocked' },
] as const;

/** The last months, newest first, as `2026-01`. */
function lastMonths(): readonly [string, ...string[]] {
  const now = new Date();
  const ago = (back: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7);
  return [ago(0), ...Array.from({ length: MONTHS - 1 }, (_, back) => ago(back + 1))];
}

export function UsersTab() {
  const { id } = useAppDraft();
  const [members] = useState(() => ({ query: '', status: valuesOf(STATUSES), month: lastMonths(), offset: '0' }));
  const [{ query: search, status, month, offset: sent }, change] = useAddress(members);
  const offset = Number(/^\d{1,9}$/.exec(sent)?.[0] ?? 0);
  // Another question begins with its first page.
  const filter = (changed: { query?: string; status?: typeof status; month?: string }) =>
    change({ ...changed, offset: '0' });
  const query = useDebounced(search).trim();
  const users = useQuery({
    queryKey: ['app', id, 'users', { query, status, month, offset }],
    queryFn: () =>
      read(
        api.GET('/v1/admin/apps/{app}/users', {
          params: {
            path: { app: id },
            query: {
              ...{ month, limit: PAGE, offset },
              ...(query === '' ? {} : { query }),
              ...(status === 'any' ? {} : { status }),
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title="Users" lead="Users who signed in, registered a device, or were named by your server." isFlush>
      <div className="flex flex-wrap items-end gap-3 border-b border-line p-3">
        <TextField
          label="Search users"
          isLabelHidden
          type="search"
          placeholder="Part of a user’s id"
          value={search}
          onChange={(text) => filter({ query: text })}
          className="min-w-52 flex-1"
        />
        <SelectField
          label="Status"
          isLabelHidden
          value={status}
          options={STATUSES}
          onChange={(value) => filter({ status: value })}
        />
        <SelectField
          label="Month (UTC)"
          isLabelHidden
          value={month}
          options={members.month.map((value) => ({ value, label: value }))}
          onChange={(value) => filter({ month: value })}
        />
      </div>
      <Loaded query={users} rows={8} isOld={users.isPlaceholderData || query !== search.trim()}>
        {(page) => <UserPage app={id} page={page} offset={offset} onMove={(to) => change({ offset: String(to) })} />}
      </Loaded>
    </Card>
  );
}

function UserPage({
  app,
  page: { users, total },
  offset,
  onMove,
}: {
  readonly app: string;
  readonly page: Schemas['UserListResponse'];
  readonly offset: number;
  readonly onMove: (offset: number) => void;
}) {
  if (users.length === 0 && offset === 0) {
    return <EmptyState title="No users">No user of this application matches.</EmptyState>;
  }
  return (
    <>
      {users.length > 0 && <UserTable app={app} users={users} />}
      <div className="flex items-center justify-between gap-3 border-t border-line p-3 text-sm text-muted">
        {users.length === 0
          ? `None after ${countText(total)}`
          : `${countText(offset + 1)} to ${countText(offset + users.length)} of ${countText(total)}`}
        <span className="flex gap-2">
          <Button
            size="sm"
            reason={offset === 0 ? 'This is the first page.' : undefined}
            onClick={() => onMove(Math.max(0, offset - PAGE))}
          >
            Previous
          </Button>
          <Button
            size="sm"
            reason={offset + PAGE >= total ? 'This is the last page.' : undefined}
            onClick={() => onMove(offset + PAGE)}
          >
            Next
          </Button>
        </span>
      </div>
    </>
  );
}

function UserTable({ app, users }: { readonly app: string; readonly users: readonly User[] }) {
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  const say = useToast();
  const toggle = async ({ id, status }: User) => {
    const params = { path: { app }, query: { user_id: id } };
    const isBlocked = status === 'blocked';
    try {
      if (isBlocked) await read(api.POST('/v1/admin/apps/{app}/user/unblock', { params }));
      else await read(api.POST('/v1/admin/apps/{app}/user/block', { params }));
      say(`${id} is ${isBlocked ? 'no longer blocked' : 'blocked; use the same button to unblock'}.`);
    } catch (thrown) {
      say(messageOf(thrown));
    }
    await client.invalidateQueries({ queryKey: ['app', app, 'users'] });
  };
  const columns: readonly Column<User>[] = [
    {
      key: 'id',
      header: 'User',
      cell: ({ id }) => (
        <code className="block max-w-64 truncate text-xs" title={id}>
          {id}
        </code>
      ),
    },
    {
      key: 'status',
      header: 'Status',
      isDetail: true,
      cell: ({ status, attest_registered: isAttested }) => (
        <span className="flex gap-1.5">
          <Badge tone={status === 'blocked' ? 'bad' : 'good'}>{status}</Badge>
          {isAttested && <Badge>Device verified</Badge>}
        </span>
      ),
    },
    {
      key: 'seen',
      header: 'Last seen',
      isDetail: true,
      cell: ({ last_seen_at: at }) => (at === null ? 'never' : <Time at={at} isRelative />),
    },
    { key: 'requests', header: 'Requests', isNumber: true, cell: ({ usage }) => countText(usage.requests) },
    {
      key: 'tokens',
      header: 'Tokens',
      isNumber: true,
      isDetail: true,
      cell: ({ usage }) => shortCountText(usage.input_tokens + usage.output_tokens),
    },
    { key: 'cost', header: 'Cost', isLead: true, isNumber: true, cell: ({ usage }) => moneyText(usage.cost_usd) },
    {
      key: 'acts',
      header: 'Actions',
      isLead: true,
      isNumber: true,
      cell: (user) => (
        <Button
          size="sm"
          reason={reason}
          aria-label={`${user.status === 'blocked' ? 'Unblock' : 'Block'} ${user.id}`}
          onClick={() => void toggle(user)}
        >
          {user.status === 'blocked' ? 'Unblock' : 'Block'}
        </Button>
      ),
    },
  ];
  return <Table caption="Users with the usage of the month" columns={columns} rows={users} rowKey={({ id }) => id} />;
}
