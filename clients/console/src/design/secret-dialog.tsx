import { Button } from './button';
import { CodeBlock } from './copy';
import { Dialog } from './dialog';
import { Alert } from './layout';

/** A key, link or codes that are shown this one time. */
export function SecretDialog({
  title,
  label = 'Key',
  secret,
  onClose,
}: {
  readonly title: string;
  /** What it is. */
  readonly label?: string;
  readonly secret: string | undefined;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={title} isOpen={secret !== undefined} onClose={onClose} isSticky>
      <div className="flex flex-col gap-4">
        <Alert tone="warn">This key is shown only once. The gateway stores only its hash.</Alert>
        <CodeBlock label={label} code={secret ?? ''} />
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            I have saved it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
