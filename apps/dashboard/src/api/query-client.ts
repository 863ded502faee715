import { DockApiError } from '@dock/sdk'
import { notifyManager } from '@tanstack/react-query'
import { isSignedOut } from './client.ts'
import { ThoroughQueryClient } from './thorough-query-client.ts'

// A button is busy before the next click can reach it. By default that takes a turn of the event loop, in which a second
// click that already waits would start the action again.
notifyManager.setScheduler(queueMicrotask)

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
    // Without a connection, an action fails at once instead of waiting. What it sent, such as a password, is forgotten
    // soon. At 0, an action whose page is left would look for its end all the time.
    mutations: { networkMode: 'always', gcTime: 1_000 },
  },
})
