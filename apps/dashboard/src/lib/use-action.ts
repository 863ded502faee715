import { useState } from 'react'
import { showError } from '../components/toasts.tsx'

/** Runs named pieces of work, one at a time. `busy` is the name of the work that runs. Errors are shown as toasts. */
export function useAction(): {
  busy: string | undefined
  run: (name: string, work: () => Promise<unknown>) => Promise<void>
} {
  const [busy, setBusy] = useState<string>()
  const run = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    setBusy(name)
    try {
      await work()
    } catch (error) {
      showError(error)
    } finally {
      setBusy(undefined)
    }
  }
  return { busy, run }
}
