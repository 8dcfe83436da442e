import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useRef, useState } from 'react';
import { messageOf } from '../api/api-error';
import { Button } from './button';
import { TextField } from './field';
import { Alert } from './layout';

interface DialogProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Slides in from the right, for details of a row. */
  readonly isDrawer?: boolean;
  /** Only its own buttons close it, because what it shows is shown once. */
  readonly isSticky?: boolean;
}

const PLACES = {
  dialog: 'top-[8vh] left-1/2 max-h-[84vh] w-[min(34rem,calc(100vw-2rem))] -translate-x-1/2 rounded-lg',
  drawer: 'inset-y-0 right-0 w-[min(40rem,100vw)]',
} as const;

export function Dialog({ title, lead, isOpen, onClose, children, isDrawer = false, isSticky = false }: DialogProps) {
  const opener = useRef<Element>(null);
  const stay = (event: Event) => {
    if (isSticky) event.preventDefault();
  };
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => open || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[#0009]" />
        <Radix.Content
          className={`fixed z-50 flex flex-col overflow-y-auto border border-line bg-surface p-5 shadow-xl ${PLACES[isDrawer ? 'drawer' : 'dialog']}`}
          onOpenAutoFocus={(event) => {
            opener.current = document.activeElement;
            focusFirstField(event);
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            giveFocusBack(opener.current);
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
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** To what had it before; where that is gone with what was deleted, to the page. A page that took it meanwhile keeps it. */
function giveFocusBack(opener: Element | null): void {
  if (document.activeElement !== document.body) return;
  const target = opener?.isConnected ? opener : document.getElementById('content');
  if (target instanceof HTMLElement) target.focus();
}

/** What is typed next goes into the dialog's first field; where there is none, its first button has the focus. */
function focusFirstField(event: Event): void {
  if (!(event.target instanceof HTMLElement)) return;
  const field = event.target.querySelector<HTMLElement>('input, select, textarea');
  if (field === null) return;
  event.preventDefault();
  field.focus();
}

/** A destructive act: its name is typed, or nothing happens. */
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
  /** What has to be typed. */
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
    <Dialog title={title} lead={lead} isOpen={isOpen} onClose={close}>
      <form
        className="flex flex-col gap-4"
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
