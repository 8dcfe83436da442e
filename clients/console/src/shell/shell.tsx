import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { BookOpen, Menu, Search, X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { queries } from '../api/queries';
import { giveFocusBack } from '../design/dialog';
import { Mark } from '../design/mark';
import { isUnderWay } from '../start/progress.rules';
import { useStartProgress } from '../start/use-progress';
import { AccountMenu, SignOutButton } from './account-menu';
import { OrganizationSwitcher, useOtherTabs } from './organization-switcher';
import { NAVIGATION, START } from './pages';
import { Palette } from './palette';
import { useSession } from './session';
import { ShortcutsDialog } from './shortcuts-dialog';
import { useSignOut } from './sign-out';
import { ThemeMenu } from './theme';
import { useShortcuts } from './use-shortcuts';

/** Screens of this width show the navigation next to the page. */
const WIDE = '(min-width: 48rem)';
/** The search field of a list on the page. */
const SEARCH_FIELD = '#content input[type=search]';

type Opened = 'menu' | 'palette' | 'shortcuts';

/** The frame of every page of a signed-in person. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [location, navigate] = useLocation();
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const { signOut, question } = useSignOut();
  const main = useRef<HTMLElement>(null);
  const menuButton = useRef<HTMLButtonElement>(null);
  const previous = useRef(location);
  useOtherTabs(useSession().organization?.id);
  useEffect(() => {
    if (previous.current === location) return;
    previous.current = location;
    setOpened(undefined);
    main.current?.focus({ preventScroll: true });
  }, [location]);
  useEffect(() => {
    const wide = matchMedia(WIDE);
    const onChange = () => setOpened((shown) => (shown === 'menu' ? undefined : shown));
    wide.addEventListener('change', onChange);
    return () => wide.removeEventListener('change', onChange);
  }, []);
  useShortcuts(
    (act) => {
      if (act === 'shortcuts') setOpened('shortcuts');
      else if (act !== 'search') navigate(act.to);
      else if (!focusSearch()) setOpened('palette');
    },
    () => setOpened('palette'),
  );
  const navigation = <Navigation onLeave={close} onShortcuts={() => setOpened('shortcuts')} onSignOut={signOut} />;
  return (
    <div className="min-h-screen md:grid md:grid-cols-[14rem_1fr]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-surface focus:px-3 focus:py-2"
      >
        Skip to content
      </a>
      <aside className="border-line bg-surface max-md:hidden md:sticky md:top-0 md:flex md:h-screen md:flex-col md:overflow-y-auto md:border-r">
        {navigation}
      </aside>
      <div className="min-w-0">
        <div className="sticky top-0 z-20 flex h-12 items-center justify-between gap-2 border-b border-line bg-canvas px-4">
          <Radix.Root open={opened === 'menu'} onOpenChange={(isOpen) => setOpened(isOpen ? 'menu' : undefined)}>
            <Radix.Trigger
              ref={menuButton}
              className="rounded-md p-2 text-muted hover:bg-hover md:hidden"
              aria-label="Menu"
            >
              <Menu size={18} />
            </Radix.Trigger>
            <Radix.Portal>
              <Radix.Overlay className="fixed inset-0 z-30 bg-[#0009]" />
              <Radix.Content
                className="fixed inset-y-0 left-0 z-40 flex w-[min(18rem,85vw)] flex-col overflow-y-auto border-r border-line bg-surface"
                aria-describedby={undefined}
                onCloseAutoFocus={(event) => {
                  event.preventDefault();
                  giveFocusBack(menuButton.current);
                }}
              >
                <div className="flex items-center justify-between border-b border-line px-4 py-2">
                  <Radix.Title className="font-semibold">Menu</Radix.Title>
                  <Radix.Close className="rounded-md p-2 text-muted hover:bg-hover" aria-label="Close">
                    <X size={16} />
                  </Radix.Close>
                </div>
                {navigation}
              </Radix.Content>
            </Radix.Portal>
          </Radix.Root>
          <button
            type="button"
            className="flex h-8 w-full max-w-72 items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-sm text-muted hover:bg-hover"
            onClick={() => setOpened('palette')}
          >
            <Search size={14} aria-hidden /> Go to…
            <kbd className="ml-auto text-xs max-md:hidden pointer-coarse:hidden">Ctrl K</kbd>
          </button>
        </div>
        <main ref={main} id="content" tabIndex={-1} className="mx-auto max-w-6xl p-4 outline-none md:p-8">
          {children}
        </main>
      </div>
      <Palette
        isOpen={opened === 'palette'}
        onClose={close}
        acts={{ showShortcuts: () => setOpened('shortcuts'), signOut }}
      />
      <ShortcutsDialog isOpen={opened === 'shortcuts'} onClose={close} />
      {question}
    </div>
  );
}

/** Next to the page, or in the menu of a narrow screen. */
function Navigation({
  onLeave,
  onShortcuts,
  onSignOut,
}: {
  readonly onLeave: () => void;
  readonly onShortcuts: () => void;
  readonly onSignOut: () => void;
}) {
  const [location] = useLocation();
  const { data: account } = useQuery(queries.account());
  const [progress] = useStartProgress();
  // The guide ends with a successful call: an account that has calls and has not started it no longer needs it.
  const isGuided = account?.has_proxied_requests === false || isUnderWay(progress);
  return (
    <>
      <div className="flex items-center gap-1 border-b border-line p-3">
        <Mark />
        <div className="min-w-0 flex-1">
          <OrganizationSwitcher />
        </div>
      </div>
      <nav aria-label="Pages" className="flex flex-1 flex-col gap-0.5 p-2">
        {NAVIGATION.filter(({ to }) => to !== START || isGuided).map(({ to, label, Icon }) => {
          const isHere = location === to || location.startsWith(`${to}/`);
          return (
            <Link
              key={to}
              href={to}
              onClick={onLeave}
              aria-current={isHere ? 'page' : undefined}
              className={clsx(
                'flex items-center gap-2.5 rounded-md px-2.5 py-1.5',
                isHere ? 'bg-accent-soft font-medium text-accent' : 'text-muted hover:bg-hover hover:text-ink',
              )}
            >
              <Icon size={16} aria-hidden /> {label}
            </Link>
          );
        })}
        <a
          href="/docs"
          target="_blank"
          rel="noopener"
          className="mt-auto flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-muted hover:bg-hover hover:text-ink"
        >
          <BookOpen size={16} aria-hidden /> Documentation
        </a>
      </nav>
      <div className="flex items-center justify-between gap-2 border-t border-line p-2">
        <AccountMenu onShortcuts={onShortcuts} />
        <ThemeMenu />
        <SignOutButton onSignOut={onSignOut} />
      </div>
    </>
  );
}

/** Whether the page has a searchable list. */
function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>(SEARCH_FIELD);
  field?.focus();
  return field !== null;
}
