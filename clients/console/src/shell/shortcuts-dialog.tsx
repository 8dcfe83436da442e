import { useState } from 'react';
import { Dialog } from '../design/dialog';
import { Checkbox } from '../design/field';
import { SHORTCUTS } from './shortcuts.rules';
import { areShortcutsOn, setShortcutsOn } from './use-shortcuts';

/** Every shortcut, and the switch for single-key shortcuts. */
export function ShortcutsDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Dialog
      title="Keyboard shortcuts"
      lead="They do nothing while you type in a field. Keys that stand side by side are pressed one after the other."
      isOpen={isOpen}
      onClose={onClose}
    >
      <Shortcuts />
    </Dialog>
  );
}

function Shortcuts() {
  const [isOn, setOn] = useState(areShortcutsOn);
  return (
    <div className="flex flex-col gap-5">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2 text-sm">
        <Keys keys={['Ctrl K']} label="Go to anything by typing; on a Mac ⌘ K" />
        {SHORTCUTS.map(({ keys, label }) => (
          <Keys key={label} keys={keys} label={label} />
        ))}
        <Keys keys={['Esc']} label="Close a dialog or the menu" />
      </dl>
      <Checkbox
        label="Shortcuts of single keys"
        hint="In this browser. Ctrl K works without them."
        checked={isOn}
        onChange={(checked) => {
          setShortcutsOn(checked);
          setOn(checked);
        }}
      />
    </div>
  );
}

function Keys({ keys, label }: { readonly keys: readonly string[]; readonly label: string }) {
  return (
    <>
      <dt className="flex gap-1">
        {keys.map((key) => (
          <kbd key={key} className="rounded border border-line bg-sunken px-1.5 py-0.5 text-xs">
            {key}
          </kbd>
        ))}
      </dt>
      <dd>{label}</dd>
    </>
  );
}
