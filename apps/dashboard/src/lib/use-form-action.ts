import { useState } from 'react'
import { showToast } from '../components/toasts.tsx'

/** Runs work for a form or button: whether it runs, and the error that it ended with. */
export function useFormAction() {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const run = async (work: () => Promise<unknown>, done?: string): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
      if (done !== undefined) showToast(done)
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, run }
}
