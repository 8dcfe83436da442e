import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';

const SHOWN_MS = 6_000;

type Say = (text: string) => void;

const Toasts = createContext<Say>(() => undefined);

/** Short messages that something was done, at the bottom of the page and read out. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [texts, setTexts] = useState<readonly { readonly id: number; readonly text: string }[]>([]);
  const said = useRef(0);
  const say = useCallback((text: string) => {
    const id = ++said.current;
    setTexts((shown) => [...shown, { id, text }]);
    setTimeout(() => setTexts((shown) => shown.filter((toast) => toast.id !== id)), SHOWN_MS);
  }, []);
  return (
    <Toasts value={useMemo(() => say, [say])}>
      {children}
      <div role="status" className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex flex-col items-center gap-2">
        {texts.map(({ id, text }) => (
          <div key={id} className="rounded-md border border-line bg-surface px-4 py-2 text-sm shadow-lg">
            {text}
          </div>
        ))}
      </div>
    </Toasts>
  );
}

export function useToast(): Say {
  return useContext(Toasts);
}
