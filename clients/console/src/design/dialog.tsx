import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/api-error';
import { Button } from './button';
import { TextField } from './field';
import { FormFields, LOSES_NOTHING } from './form-fields';
import { Alert } from './layout';

/** A field whose text is not a valid value: a form with one is not sent. */
export const UNREADABLE = '[data-unreadable]';

interface DialogProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Slides in from the right, for details of a row. */
  readonly isDrawer?: boolean;
  /** A drawer for things side by side. */
  readonly isWide?: boolean;
  /** Only its own buttons close it, because what it shows is shown once. */
  readonly isSticky?: boolean;
  /** The form values in it that are not lost without a confirmation. */
  readonly guards?: 'typed' | 'unsent' | 'nothing';
}

const PLACES = {
  dialog: 'top-[8vh] left-1/2 max-h-[84vh] w-[min(34rem,calc(100vw-2rem))] -translate-x-1/2 rounded-lg',
  drawer: 'inset-y-0 right-0 w-[min(40rem,100vw)]',
  wide: 'inset-y-0 right-0 w-[min(64rem,100vw)]',
} as const;

/** Closed by Escape, a click outside or its close button, it asks before typed form values are lost. */
export function Dialog({
  title,
  lead,
  isOpen,
  onClose,
  children,
  isDrawer = false,
  isWide = false,
  isSticky = false,
  guards = 'typed',
}: DialogProps) {
  const opener = useRef<Element>(null);
  const fields = useRef(new FormFields());
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    if (!isOpen) setAsking(false);
  }, [isOpen]);
  const dismiss = () => {
    if (isAsking) setAsking(false);
    else if (guards !== 'nothing' && fields.current.haveChanged) setAsking(true);
    else onClose();
  };
  const stay = (event: Event) => {
    if (isSticky) event.preventDefault();
  };
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => open || dismiss()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[#0009]" />
        <Radix.Content
          className={`fixed z-50 flex flex-col overflow-y-auto border border-line bg-surface p-5 shadow-xl ${PLACES[isWide ? 'wide' : isDrawer ? 'drawer' : 'dialog']}`}
          onOpenAutoFocus={(event) => {
            opener.current = document.activeElement;
            focusFirstField(event);
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            giveFocusBack(opener.current);
          }}
          onFocusCapture={({ target }) => fields.current.remember(target)}
          onSubmitCapture={({ target }) => {
            const isReadable = target instanceof Element && target.querySelector(UNREADABLE) === null;
            if (guards === 'unsent' && isReadable) fields.current.settle();
          }}
          onEscapeKeyDown={stay}
          onInteractOutside={stay}
          {...(lead === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <div className="min-w-0">
              <Radix.Title className="text-lg font-semibold break-words">{title}</Radix.Title>
              {lead !== undefined && <Radix.Description className="mt-1 text-sm text-muted">{lead}</Radix.Description>}
            </div>
            {!isSticky && (
              <Radix.Close className="rounded-md p-1 text-muted hover:bg-hover" aria-label="Close">
                <X size={16} />
              </Radix.Close>
            )}
          </div>
          {children}
          {isAsking && <DiscardQuestion onKeep={() => setAsking(false)} onDiscard={onClose} />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function DiscardQuestion({ onKeep, onDiscard }: { readonly onKeep: () => void; readonly onDiscard: () => void }) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => row.current?.querySelector('button')?.focus(), []);
  return (
    <div ref={row} className="sticky bottom-0 mt-4 rounded-md bg-surface">
      <Alert
        tone="warn"
        actions={
          <span className="flex gap-2">
            <Button size="sm" onClick={onKeep}>
              Keep editing
            </Button>
            <Button size="sm" look="danger" onClick={onDiscard}>
              Discard
            </Button>
          </span>
        }
      >
        Closing discards what you have typed.
      </Alert>
    </div>
  );
}

/** To the previously focused element; if that was deleted, to the page. A page that has taken the focus keeps it. */
export function giveFocusBack(opener: Element | null): void {
  if (document.activeElement !== document.body) return;
  const target = opener?.isConnected ? opener : document.getElementById('content');
  if (target instanceof HTMLElement) target.focus();
}

/** The dialog's first field gets the focus; without one, its first button. */
function focusFirstField(event: Event): void {
  if (!(event.target instanceof HTMLElement)) return;
  const field = event.target.querySelector<HTMLElement>('input, select, textarea');
  if (field === null) return;
  event.preventDefault();
  field.focus();
}

/** A destructive action: the name must be typed to confirm it. */
export function TypedConfirmation({
  title,
  lead,
  phrase,
  act,
  isOpen,
  onClose,
  onConfirm,
}: {
  readonly title: string;
  readonly lead: ReactNode;
  /** The text to type. */
  readonly phrase: string;
  /** The button, as `Delete`. */
  readonly act: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onConfirm: () => Promise<unknown>;
}) {
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const close = () => {
    setTyped('');
    setProblem(undefined);
    onClose();
  };
  const confirm = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await onConfirm();
      close();
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} lead={lead} isOpen={isOpen} onClose={close} guards="nothing">
      <form
        className="flex flex-col gap-4"
        {...LOSES_NOTHING}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === phrase) void confirm();
        }}
      >
        <TextField label={`Type “${phrase}” to confirm`} value={typed} onChange={setTyped} autoComplete="off" />
        {problem !== undefined && <Alert>{problem}</Alert>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button
            look="danger"
            type="submit"
            isBusy={isBusy}
            reason={typed === phrase ? undefined : 'Type the name first.'}
          >
            {act}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
