import { TypedConfirmation } from './dialog';

/** Something with a name and a key, to be revoked permanently. */
interface Revocable {
  readonly name: string;
}

/** Asks before a key is revoked. */
export function Revocation<T extends Revocable>({
  target,
  onClose,
  onRevoke,
}: {
  readonly target: T | undefined;
  readonly onClose: () => void;
  readonly onRevoke: (target: T) => Promise<unknown>;
}) {
  if (target === undefined) return null;
  return (
    <TypedConfirmation
      title={`Revoke ${target.name}?`}
      lead="It is refused within a second, on every instance. This cannot be undone."
      phrase={target.name}
      act="Revoke"
      isOpen
      onClose={onClose}
      onConfirm={() => onRevoke(target)}
    />
  );
}
