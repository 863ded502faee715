import { useState } from 'react'
import { showError } from '../components/toasts.tsx'

/** Runs one piece of work at a time. `busy` names the one that runs; an error is shown as a toast. */
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
