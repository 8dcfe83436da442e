import { useQuery } from '@tanstack/react-query';
import { clsx } from 'clsx';
import { Menu, Search } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { queries } from '../api/queries';
import { AccountMenu, SignOutButton } from './account-menu';
import { OrganizationSwitcher } from './organization-switcher';
import { NAVIGATION, START } from './pages';
import { Palette } from './palette';
import { ThemeMenu } from './theme';

/** The frame of every page of a signed-in person. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [location] = useLocation();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const { data: account } = useQuery(queries.account());
  // The guide ends by itself: whoever has calls needs it no more.
  const pages = NAVIGATION.filter(({ to }) => to !== START || account?.has_proxied_requests === false);
  const main = useRef<HTMLElement>(null);
  const previous = useRef(location);
  useEffect(() => {
    setMenuOpen(false);
    if (previous.current !== location) main.current?.focus({ preventScroll: true });
    previous.current = location;
  }, [location]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setPaletteOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <div className="min-h-screen md:grid md:grid-cols-[14rem_1fr]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-surface focus:px-3 focus:py-2"
      >
        Skip to content
      </a>
      <aside
        className={clsx(
          'border-line bg-surface md:sticky md:top-0 md:flex md:h-screen md:flex-col md:border-r',
          isMenuOpen ? 'fixed inset-0 z-30 flex flex-col overflow-y-auto' : 'max-md:hidden',
        )}
      >
        <div className="border-b border-line p-3">
          <OrganizationSwitcher />
        </div>
        <nav aria-label="Pages" className="flex flex-1 flex-col gap-0.5 p-2">
          {pages.map(({ to, label, Icon }) => {
            const isHere = location === to || location.startsWith(`${to}/`);
            return (
              <Link
                key={to}
                href={to}
                onClick={() => setMenuOpen(false)}
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
        </nav>
        <div className="flex items-center justify-between gap-2 border-t border-line p-2">
          <AccountMenu />
          <ThemeMenu />
          <SignOutButton />
        </div>
      </aside>
      <div className="min-w-0">
        <div className="sticky top-0 z-20 flex h-12 items-center justify-between gap-2 border-b border-line bg-canvas px-4">
          <button
            type="button"
            className="rounded-md p-2 text-muted hover:bg-hover md:hidden"
            aria-label="Menu"
            aria-expanded={isMenuOpen}
            onClick={() => setMenuOpen(true)}
          >
            <Menu size={18} />
          </button>
          <button
            type="button"
            className="flex h-8 w-full max-w-72 items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-sm text-muted hover:bg-hover"
            onClick={() => setPaletteOpen(true)}
          >
            <Search size={14} aria-hidden /> Go to…
            <kbd className="ml-auto text-xs">Ctrl K</kbd>
          </button>
        </div>
        <main ref={main} id="content" tabIndex={-1} className="mx-auto max-w-6xl p-4 outline-none md:p-8">
          {children}
        </main>
      </div>
      <Palette isOpen={isPaletteOpen} onClose={() => setPaletteOpen(false)} />
    </div>
  );
}
