import { Button } from '../design/button';
import { hasPasskeys, signInWithPasskey } from './passkeys';

/** Signs in with a passkey, where the browser has them. */
export function PasskeyButton({
  isBusy,
  onSignIn,
}: {
  readonly isBusy: boolean;
  /** Runs the sign-in, and shows what it throws. */
  readonly onSignIn: (signIn: () => Promise<void>) => void;
}) {
  if (!hasPasskeys()) return null;
  return (
    <Button isBusy={isBusy} onClick={() => onSignIn(signInWithPasskey)}>
      Sign in with a passkey
    </Button>
  );
}
