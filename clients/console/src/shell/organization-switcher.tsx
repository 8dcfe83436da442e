import { useQueryClient } from '@tanstack/react-query';
import { Check, ChevronsUpDown } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { messageOf, problemAt } from '../api/api-error';
import { api, read } from '../api/client';
import { queries, type Session } from '../api/queries';
import { useSubmit } from '../api/use-submit';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { TextField } from '../design/field';
import { ErrorAlert } from '../design/layout';
import { useToast } from '../design/toast';
import { useLeaveGuard } from './guarded-router';
import { useSession } from './session';

/** Between the tabs of a browser. */
const CHANNEL = 'organization';
const ITEM = 'flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 data-highlighted:bg-hover';

/** Which organization the person works in; the choice is a cookie of the session. */
export function OrganizationSwitcher() {
  const { organization, memberships } = useSession();
  const [isNaming, setNaming] = useState(false);
  const select = useSelectOrganization();
  const say = useToast();
  const guard = useLeaveGuard();
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger className="flex w-full items-center gap-2 rounded-md px-2 py-1.5 text-left hover:bg-hover">
          <span className="line-clamp-2 min-w-0 flex-1 font-medium break-words">
            {organization?.name ?? 'No organization'}
          </span>
          <ChevronsUpDown size={14} className="shrink-0 text-muted" aria-label="Switch organization" />
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            className="z-50 max-h-96 min-w-56 overflow-y-auto rounded-md border border-line bg-surface p-1 text-sm shadow-lg"
            align="start"
            sideOffset={4}
          >
            <DropdownMenu.Label className="px-2 py-1 text-xs text-muted">Organizations</DropdownMenu.Label>
            {memberships.map(({ organization: { id, name }, role }) => (
              <DropdownMenu.Item
                key={id}
                className={ITEM}
                onSelect={() => guard.around(() => void select(id).catch((error: unknown) => say(messageOf(error))))}
              >
                <span className="min-w-0 flex-1 truncate">{name}</span>
                <span className="text-xs text-muted">{role}</span>
                {id === organization?.id && <Check size={14} aria-label="current" />}
              </DropdownMenu.Item>
            ))}
            <DropdownMenu.Separator className="my-1 h-px bg-line" />
            <DropdownMenu.Item className={ITEM} onSelect={() => setNaming(true)}>
              New organization…
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      <NewOrganization isOpen={isNaming} onClose={() => setNaming(false)} onMade={select} />
    </>
  );
}

function useSelectOrganization(): (organizationId: string) => Promise<void> {
  const enter = useEnter();
  return async (organizationId) => {
    const { session } = await read(api.POST('/v1/admin/organizations/select', { body: { organizationId } }));
    enter(session);
    const channel = new BroadcastChannel(CHANNEL);
    channel.postMessage(session);
    channel.close();
  };
}

/** Discards cached data of another organization and shows this one. */
function useEnter(): (session: Session) => void {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const guard = useLeaveGuard();
  return (session) => {
    // The typed text was meant for the other organization.
    guard.forget();
    const { queryKey } = queries.session();
    client.setQueryData(queryKey, session);
    // Unlike `clear`, this also affects what is currently shown.
    void client.resetQueries({ predicate: (query) => query.queryKey[0] !== queryKey[0] });
    navigate('/apps');
  };
}

/**
 * Follows a switch in another tab: the choice belongs to the whole browser, and a form that was opened for one
 * organization must not be sent to another.
 */
export function useOtherTabs(currentId: string | undefined): void {
  const enter = useEnter();
  const say = useToast();
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = ({ data: session }: MessageEvent<Session>) => {
      if (session.organization?.id === currentId) return;
      enter(session);
      say(`Another tab has switched to ${session.organization?.name}.`);
    };
    return () => channel.close();
  });
}

function NewOrganization({
  isOpen,
  onClose,
  onMade,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onMade: (id: string) => Promise<void>;
}) {
  return (
    <Dialog
      title="New organization"
      lead="It has its own applications, providers, keys and members. You are its owner."
      isOpen={isOpen}
      onClose={onClose}
    >
      <OrganizationForm onClose={onClose} onMade={onMade} />
    </Dialog>
  );
}

function OrganizationForm({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (id: string) => Promise<void>;
}) {
  const [name, setName] = useState('');
  const { run, error, isBusy } = useSubmit();
  const make = () =>
    run(async () => {
      const { organization } = await read(api.POST('/v1/admin/organizations', { body: { name } }));
      onClose();
      await onMade(organization.id);
    });
  const problem = problemAt(error, 'name');
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <TextField label="Organization name" value={name} onChange={setName} required error={problem} />
      {error !== undefined && problem === undefined && <ErrorAlert error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={isBusy}>
          Create
        </Button>
      </div>
    </form>
  );
}
