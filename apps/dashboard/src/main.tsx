import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-client.ts'
import { Toasts } from './components/toasts.tsx'
import { giveStylesTheNonce } from './lib/style-nonce.ts'
import { applyTheme } from './lib/theme.ts'
import { router } from './router.ts'
import './styles.css'

giveStylesTheNonce()
applyTheme()

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
)
