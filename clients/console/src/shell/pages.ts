import { Activity, Boxes, HeartPulse, KeyRound, type LucideIcon, Plug, ScrollText, Users } from 'lucide-react';

/** A page of the navigation. */
export interface NavigationPage {
  readonly to: string;
  readonly label: string;
  readonly Icon: LucideIcon;
}

/** The guided start. */
export const START = '/start';

export const NAVIGATION: readonly NavigationPage[] = [
  { to: '/apps', label: 'Applications', Icon: Boxes },
  { to: '/providers', label: 'Providers', Icon: Plug },
  { to: '/access', label: 'Access', Icon: KeyRound },
  { to: '/members', label: 'Members', Icon: Users },
  { to: '/audit', label: 'Audit trail', Icon: ScrollText },
  { to: '/health', label: 'Health', Icon: HeartPulse },
  { to: START, label: 'Guided start', Icon: Activity },
];
