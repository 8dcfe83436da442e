import { QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { client, firstReads } from './boot';
import { ConnectionAlert } from './design/connection-alert';
import { ToastProvider } from './design/toast';
import { fetchPage, Routes } from './routes';
import './styles.css';

const PATIENCE_MS = 250;

/** Dialogs keep the page behind them still by a style element, which the policy of the page demands a nonce for. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.nonce;
if (nonce !== undefined) setNonce(nonce);

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root.');
const view = createRoot(root);

/** Content that has arrived is shown immediately; a slow response is replaced by a skeleton. */
const here = Promise.allSettled([firstReads, fetchPage(location.pathname)]);
void Promise.race([here, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]).then(() =>
  view.render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <ToastProvider>
          <ConnectionAlert />
          <Routes />
        </ToastProvider>
      </QueryClientProvider>
    </StrictMode>,
  ),
);
