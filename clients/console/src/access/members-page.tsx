import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf, problemAt } from '../api/api-error';
import { api, read, type Schemas } from '../api/client';
import { queries } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { CodeBlock } from '../design/copy';
import { TypedConfirmation } from '../design/dialog';
import { SelectField, TextField } from '../design/field';
import { Badge, Card, ErrorAlert, PageHeader } from '../design/layout';
import { Loaded } from '../design/loaded';
import { SecretDialog } from '../design/secret-dialog';
import { type Column, Table } from '../design/table';
import { Day } from '../design/time';
import { useToast } from '../design/toast';
import { wordOf } from '../design/words.rules';
import { useReadOnlyReason, useSession } from '../shell/session';
import { ClaimCard } from './claim-card';
import { OrganizationName } from './organization-name';

type Member = Schemas['Member'];
type Invitation = Schemas['Invitation'];
type Role = Member['role'];

const ROLES = [
  { value: 'owner', label: 'Owner' },
  { value: 'admin', label: 'Admin' },
  { value: 'member', label: 'Member (read only)' },
] as const;

export function MembersPage() {
  const { organization } = useSession();
  return (
    <>
      <PageHeader title="Members" lead={`Members of ${organization?.name ?? 'this organization'} and their roles.`} />
      <div className="flex flex-col gap-6">
        {organization?.claimed === false && <ClaimCard />}
        <Members />
        <Invitations />
        <OrganizationName />
      </div>
    </>
  );
}

function Members() {
  const query = useQuery(queries.members());
  const { user, role } = useSession();
  const isOwner = role === 'owner';
  const { run, error: problem } = useSubmit();
  const [link, setLink] = useState<string>();
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  const say = useToast();
  const [removing, setRemoving] = useState<Member>();
  const refresh = () => client.invalidateQueries({ queryKey: queries.members().queryKey });
  const changeRole = async ({ id, name, email }: Member, role: Role) => {
    try {
      await read(api.PUT('/v1/admin/members/{user}', { params: { path: { user: id } }, body: { role } }));
      say(`${name ?? email} is ${role} now.`);
      await client.invalidateQueries({ queryKey: queries.session().queryKey });
    } catch (thrown) {
      say(messageOf(thrown));
    }
    await refresh();
  };
  const remove = async ({ id }: Member) => {
    await read(api.DELETE('/v1/admin/members/{user}', { params: { path: { user: id } } }));
    await refresh();
  };
  const makeLink = (member: Member) =>
    run(async () => {
      const params = { path: { user: member.id } };
      setLink((await read(api.POST('/v1/admin/members/{user}/password-reset', { params }))).url);
    });
  const columns: readonly Column<Member>[] = [
    {
      key: 'name',
      header: 'Person',
      cell: ({ id, name, email, kind }) => (
        <span className="block max-w-72">
          <span className="block truncate font-medium">
            {name ?? email ?? id} {id === user.id && <Badge>You</Badge>} {kind === 'service' && <Badge>Service</Badge>}
          </span>
          <span className="block truncate text-xs text-muted">{email}</span>
        </span>
      ),
    },
    { key: 'joined', header: 'Joined', isDetail: true, cell: ({ joinedAt }) => <Day at={joinedAt} /> },
    {
      key: 'role',
      header: 'Role',
      cell: (member) => (
        <SelectField
          label={`Role of ${member.name ?? member.email ?? member.id}`}
          isLabelHidden
          className="min-w-28"
          value={member.role}
          options={ROLES}
          onChange={(role) => void changeRole(member, role)}
          {...(reason === undefined ? {} : { disabled: true, title: reason })}
        />
      ),
    },
    {
      key: 'acts',
      header: 'Actions',
      isLead: true,
      isNumber: true,
      cell: (member) => (
        <span className="inline-flex flex-wrap justify-end gap-1">
          {isOwner && member.kind === 'human' && member.id !== user.id && (
            <Button
              size="sm"
              aria-label={`Reset password of ${member.name ?? member.email ?? member.id}`}
              onClick={() => void makeLink(member)}
            >
              Reset password
            </Button>
          )}
          <Button
            size="sm"
            reason={reason}
            aria-label={`Remove ${member.name ?? member.email ?? member.id}`}
            onClick={() => setRemoving(member)}
          >
            Remove
          </Button>
        </span>
      ),
    },
  ];
  return (
    <Card title="People" isFlush>
      <Loaded query={query}>
        {(members) => <Table caption="Members" columns={columns} rows={members} rowKey={({ id }) => id} />}
      </Loaded>
      {problem !== undefined && <ErrorAlert error={problem} />}
      <SecretDialog
        title="A link for a new password"
        label="Link, valid once and for 24 hours"
        secret={link}
        onClose={() => setLink(undefined)}
      />
      {removing !== undefined && (
        <TypedConfirmation
          title={`Remove ${removing.name ?? removing.email ?? removing.id}?`}
          lead="Their sessions, keys and connections here end with the next request."
          phrase={removing.email ?? removing.id}
          act="Remove"
          isOpen
          onClose={() => setRemoving(undefined)}
          onConfirm={() => remove(removing)}
        />
      )}
    </Card>
  );
}

function Invitations() {
  const query = useQuery(queries.invitations());
  const reason = useReadOnlyReason();
  const client = useQueryClient();
  const [role, setRole] = useState<Role>('admin');
  const [email, setEmail] = useState('');
  const [problem, setProblem] = useState<unknown>();
  const [link, setLink] = useState<string>();
  const [mailedTo, setMailedTo] = useState<string>();
  const { data: mail } = useQuery(queries.mail());
  const refresh = () => client.invalidateQueries({ queryKey: queries.invitations().queryKey });
  const invite = async () => {
    setProblem(undefined);
    try {
      const { url, mailed } = await read(
        api.POST('/v1/admin/invitations', { body: { role, ...(email === '' ? {} : { email }) } }),
      );
      setLink(url);
      setMailedTo(mailed ? email : undefined);
      setEmail('');
      await refresh();
    } catch (thrown) {
      setProblem(thrown);
    }
  };
  const revoke = async ({ id }: Invitation) => {
    await read(api.POST('/v1/admin/invitations/{id}/revoke', { params: { path: { id } } }));
    await refresh();
  };
  const columns: readonly Column<Invitation>[] = [
    { key: 'for', header: 'For', cell: (invitation) => invitation.email ?? 'The first person who opens it' },
    { key: 'role', header: 'Role', cell: ({ role }) => ROLES.find(({ value }) => value === role)?.label ?? role },
    {
      key: 'status',
      header: 'Status',
      cell: ({ status }) => <Badge tone={status === 'pending' ? 'accent' : 'neutral'}>{wordOf(status)}</Badge>,
    },
    { key: 'ends', header: 'Ends', isDetail: true, cell: ({ expiresAt }) => <Day at={expiresAt} /> },
    {
      key: 'acts',
      header: 'Actions',
      isLead: true,
      isNumber: true,
      cell: (invitation) =>
        invitation.status === 'pending' && (
          <Button size="sm" reason={reason} onClick={() => void revoke(invitation)}>
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <Card
      title="Invitations"
      lead={
        mail?.configured
          ? 'Each link lets one person join. It is mailed to the address that you enter; you can also pass it on yourself.'
          : 'Each link lets one person join. The gateway sends no mail; you pass it on.'
      }
      isFlush
    >
      <form
        className="flex flex-wrap items-start gap-3 border-b border-line p-4 last:border-b-0"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) void invite();
        }}
      >
        <TextField
          label="E-mail (optional)"
          type="email"
          hint="Only this address can use the link. Empty: the first person who opens it."
          value={email}
          onChange={setEmail}
          error={problemAt(problem, 'email')}
          className="min-w-52 flex-1"
        />
        <SelectField label="Role" value={role} options={ROLES} onChange={setRole} error={problemAt(problem, 'role')} />
        <Button size="row" type="submit" reason={reason}>
          Invite
        </Button>
      </form>
      {problem !== undefined && problemAt(problem, 'email', 'role') === undefined && <ErrorAlert error={problem} />}
      {link !== undefined && (
        <div className="border-b border-line p-4">
          {mailedTo !== undefined && (
            <p role="status" className="mb-2 text-sm break-words">
              The link is on its way to {mailedTo}.
            </p>
          )}
          <CodeBlock label="Invitation link (shown only once)" code={link} />
        </div>
      )}
      <Loaded query={query} rows={1}>
        {(invitations) =>
          invitations.length > 0 && (
            <Table caption="Invitations" columns={columns} rows={invitations} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Card>
  );
}
