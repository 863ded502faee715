import { DockApiError } from '@dock/sdk'
import { isSignedOut } from './client.ts'
import { ThoroughQueryClient } from './thorough-query-client.ts'

/**
 * Live events say when something has changed, so queries are never stale by age. The SDK retries what may be retried.
 */
export const queryClient = new ThoroughQueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      retry: (count, error) =>
        count < 2 && !isSignedOut(error) && !(error instanceof DockApiError && error.status < 500),
    },
    // Without a connection, an action fails at once instead of waiting. What it sent, such as a password, is not kept.
    mutations: { networkMode: 'always', gcTime: 0 },
  },
})
