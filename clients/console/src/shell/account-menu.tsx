import { CircleUserRound, LogOut } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useLocation } from 'wouter';
import { useSession } from './session';

const ITEM = 'flex cursor-pointer items-center rounded px-2 py-1.5 data-highlighted:bg-hover';

export function AccountMenu({ onShortcuts }: { readonly onShortcuts: () => void }) {
  const { user } = useSession();
  const [, navigate] = useLocation();
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="flex min-w-0 items-center gap-2 rounded-md px-2 py-1.5 text-left hover:bg-hover">
        <CircleUserRound size={18} className="shrink-0 text-muted" aria-hidden />
        <span className="line-clamp-2 min-w-0 text-sm break-words">{user.name ?? user.email}</span>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className="z-50 min-w-48 rounded-md border border-line bg-surface p-1 text-sm shadow-lg"
          side="top"
          align="start"
          sideOffset={4}
        >
          <DropdownMenu.Label className="px-2 py-1.5 text-xs break-all text-muted">{user.email}</DropdownMenu.Label>
          <DropdownMenu.Item className={ITEM} onSelect={() => navigate('/settings/profile')}>
            Profile
          </DropdownMenu.Item>
          <DropdownMenu.Item className={ITEM} onSelect={() => navigate('/settings/security')}>
            Password and sessions
          </DropdownMenu.Item>
          <DropdownMenu.Item className={ITEM} onSelect={onShortcuts}>
            Keyboard shortcuts
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function SignOutButton({ onSignOut }: { readonly onSignOut: () => void }) {
  return (
    <button
      type="button"
      className="rounded-md p-2 text-muted hover:bg-hover hover:text-ink"
      aria-label="Sign out"
      title="Sign out"
      onClick={onSignOut}
    >
      <LogOut size={16} />
    </button>
  );
}
