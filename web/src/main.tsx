import { QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/queries';
import { ToastProvider } from './design/toast';
import { Routes } from './routes';
import './styles.css';

const SIGN_IN = '/login';

/** Dialogs keep the page behind them still by a style element, which the policy of the page demands a nonce for. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.nonce;
if (nonce !== undefined) setNonce(nonce);

const client = createQueryClient(() => {
  const { pathname, search } = location;
  if (pathname === SIGN_IN || pathname === '/signup') return;
  const wasSignedIn = client.getQueryData(['session']) !== undefined;
  client.clear();
  const next = new URLSearchParams({ next: pathname + search, ...(wasSignedIn ? { ended: '1' } : {}) });
  history.pushState(null, '', `${SIGN_IN}?${next}`);
});

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root.');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <ToastProvider>
        <Routes />
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
