import { useEffect, useRef } from 'react';
import { pressed, type ShortcutAct } from './shortcuts.rules';

/** How long a first key waits for the second. */
const WAIT_MS = 1_500;
const SWITCH = 'shortcuts';
const OFF = 'off';
/** Keys belong to the focused element there. */
const TYPED_INTO = 'input, textarea, select, [contenteditable], [role=menu], [role=listbox], [role=combobox]';
const DIALOG = '[role=dialog], [role=alertdialog]';

/** Whether single-key shortcuts are on in this browser: speech and switch control may press keys by accident. */
export function areShortcutsOn(): boolean {
  return localStorage.getItem(SWITCH) !== OFF;
}

export function setShortcutsOn(isOn: boolean): void {
  if (isOn) localStorage.removeItem(SWITCH);
  else localStorage.setItem(SWITCH, OFF);
}

/** Calls `onAct` for a shortcut and `onPalette` for Ctrl K; neither over a dialog, and the former not while typing. */
export function useShortcuts(onAct: (act: ShortcutAct) => void, onPalette: () => void): void {
  const acts = useRef({ onAct, onPalette });
  acts.current = { onAct, onPalette };
  useEffect(() => {
    let before: readonly string[] = [];
    let lastMs = 0;
    const onKey = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey, timeStamp } = event;
      if (document.querySelector(DIALOG) !== null || event.defaultPrevented || event.isComposing) return;
      if (ctrlKey || metaKey || altKey) {
        if (key.toLowerCase() !== 'k' || altKey) return;
        event.preventDefault();
        acts.current.onPalette();
        return;
      }
      const isTyping = target instanceof Element && target.closest(TYPED_INTO) !== null;
      if (isTyping || event.repeat || key.length !== 1 || !areShortcutsOn()) return;
      const found = pressed(timeStamp - lastMs < WAIT_MS ? before : [], key);
      before = found === 'waits' ? [key] : [];
      lastMs = timeStamp;
      if (found === undefined || found === 'waits') return;
      event.preventDefault();
      acts.current.onAct(found.act);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
