import type { ReactNode } from 'react';
import { Button } from './button';
import { CodeBlock } from './copy';
import { Dialog } from './dialog';
import { Alert } from './layout';

/** A key, link or codes that are shown only once. */
export function SecretDialog({
  title,
  label = 'Key',
  warning = 'It is shown only once: the gateway stores only a hash of it.',
  secret,
  onClose,
  children,
}: {
  readonly title: string;
  /** What it is. */
  readonly label?: string;
  readonly warning?: string;
  readonly secret: string | undefined;
  readonly onClose: () => void;
  /** What to do with it. */
  readonly children?: ReactNode;
}) {
  return (
    <Dialog title={title} isOpen={secret !== undefined} onClose={onClose} isSticky>
      <div className="flex flex-col gap-4">
        <Alert tone="warn">{warning}</Alert>
        <CodeBlock label={label} code={secret ?? ''} />
        {children}
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            I have saved it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
