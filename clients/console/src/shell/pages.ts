import {
  Activity,
  Boxes,
  ChartColumn,
  HeartPulse,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  Plug,
  ScrollText,
  Tags,
  Users,
  Webhook,
} from 'lucide-react';

/** A page of the navigation. */
export interface NavigationPage {
  readonly to: string;
  readonly label: string;
  readonly Icon: LucideIcon;
  /** The key that opens it after `g`. */
  readonly shortcut?: string;
}

/** The guided start. */
export const START = '/start';

export const NAVIGATION: readonly NavigationPage[] = [
  { to: '/', label: 'Overview', Icon: LayoutDashboard, shortcut: 'o' },
  { to: '/apps', label: 'Applications', Icon: Boxes, shortcut: 'a' },
  { to: '/usage', label: 'Usage', Icon: ChartColumn, shortcut: 'u' },
  { to: '/providers', label: 'Providers', Icon: Plug, shortcut: 'p' },
  { to: '/models', label: 'Models', Icon: Tags, shortcut: 'd' },
  { to: '/access', label: 'Access', Icon: KeyRound, shortcut: 'k' },
  { to: '/members', label: 'Members', Icon: Users, shortcut: 'm' },
  { to: '/webhooks', label: 'Webhooks', Icon: Webhook, shortcut: 'w' },
  { to: '/audit', label: 'Audit trail', Icon: ScrollText, shortcut: 't' },
  { to: '/health', label: 'Health', Icon: HeartPulse, shortcut: 'h' },
  { to: START, label: 'Guided start', Icon: Activity, shortcut: 's' },
];
