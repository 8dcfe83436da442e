import { Monitor, Moon, Sun } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';

const THEMES = [
  { value: 'system', label: 'System', Icon: Monitor },
  { value: 'light', label: 'Light', Icon: Sun },
  { value: 'dark', label: 'Dark', Icon: Moon },
] as const;

export type Theme = (typeof THEMES)[number]['value'];

/** Chooses the theme for this browser; `index.html` applies it before the first paint. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem('theme');
  } else {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem('theme', theme);
  }
}

function storedTheme(): Theme {
  const stored = localStorage.getItem('theme');
  return THEMES.find(({ value }) => value === stored)?.value ?? 'system';
}

export function ThemeMenu() {
  const [theme, setTheme] = useState(storedTheme);
  const { Icon } = THEMES.find(({ value }) => value === theme) ?? THEMES[0];
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="rounded-md p-2 text-muted hover:bg-hover hover:text-ink" aria-label="Theme">
        <Icon size={16} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className="z-50 min-w-32 rounded-md border border-line bg-surface p-1 text-sm shadow-lg"
          sideOffset={4}
          align="end"
        >
          <DropdownMenu.RadioGroup
            value={theme}
            onValueChange={(value) => {
              const chosen = THEMES.find((known) => known.value === value)?.value ?? 'system';
              applyTheme(chosen);
              setTheme(chosen);
            }}
          >
            {THEMES.map(({ value, label, Icon: Sign }) => (
              <DropdownMenu.RadioItem
                key={value}
                value={value}
                className="flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 data-highlighted:bg-hover data-[state=checked]:text-accent"
              >
                <Sign size={14} /> {label}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
