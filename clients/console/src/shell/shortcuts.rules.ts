import { NAVIGATION } from './pages';

export type ShortcutAct = { readonly to: string } | 'search' | 'shortcuts';

export interface Shortcut {
  /** Pressed one after the other. */
  readonly keys: readonly string[];
  readonly label: string;
  readonly act: ShortcutAct;
}

/** These keys work anywhere except in fields, menus and dialogs. */
export const SHORTCUTS: readonly Shortcut[] = [
  { keys: ['?'], label: 'Show these shortcuts', act: 'shortcuts' },
  { keys: ['/'], label: 'Search this list, or everything', act: 'search' },
  { keys: ['n'], label: 'New application', act: { to: '/apps/new' } },
  ...NAVIGATION.flatMap(({ to, label, shortcut }) =>
    shortcut === undefined ? [] : [{ keys: ['g', shortcut], label: `Go to ${label}`, act: { to } }],
  ),
];

/** The effect of a key after the previous ones: an action, a wait for the next key, or nothing. */
export function pressed(before: readonly string[], key: string): Shortcut | 'waits' | undefined {
  for (const keys of [[...before, key], [key]]) {
    const begun = SHORTCUTS.filter((shortcut) => keys.every((own, index) => shortcut.keys[index] === own));
    const [done] = begun.filter((shortcut) => shortcut.keys.length === keys.length);
    if (done !== undefined) return done;
    if (begun.length > 0) return 'waits';
  }
  return undefined;
}
