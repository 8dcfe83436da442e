import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { Router } from 'wouter';
import { Button } from '../design/button';
import { Dialog } from '../design/dialog';
import { LeaveGuard } from './leave-guard';

const GuardContext = createContext<LeaveGuard | undefined>(undefined);

/** A router that asks before leaving a page with unsaved text. */
export function GuardedRouter({ children }: { readonly children: ReactNode }) {
  const [leave, setLeave] = useState<() => void>();
  const guard = useMemo(() => new LeaveGuard((asked) => setLeave(() => asked)), []);
  useEffect(() => guard.watch(), [guard]);
  const stay = () => setLeave(undefined);
  return (
    <GuardContext value={guard}>
      <Router hook={guard.useLocation} aroundNav={guard.aroundNavigation}>
        {children}
      </Router>
      <Dialog
        title="Leave this page?"
        lead="What you have typed is not saved."
        isOpen={leave !== undefined}
        onClose={stay}
      >
        <div className="flex justify-end gap-2">
          <Button onClick={stay}>Stay</Button>
          <Button
            look="danger"
            onClick={() => {
              stay();
              leave?.();
            }}
          >
            Leave
          </Button>
        </div>
      </Dialog>
    </GuardContext>
  );
}

export function useLeaveGuard(): LeaveGuard {
  const guard = useContext(GuardContext);
  if (guard === undefined) throw new Error('No router around this.');
  return guard;
}
