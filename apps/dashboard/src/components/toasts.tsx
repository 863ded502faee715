import { useSyncExternalStore } from 'react'
import { messageOf, requestIdOf } from '../api/client.ts'

type Toast = { id: number; text: string; isError: boolean }

let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()
const shownMs = 6_000

const change = (next: readonly Toast[]): void => {
  toasts = next
  for (const listener of listeners) listener()
}

/** Shows a short message for some seconds. */
export function showToast(text: string, isError = false): void {
  const id = ++last
  change([...toasts.slice(-3), { id, text, isError }])
  setTimeout(() => change(toasts.filter((toast) => toast.id !== id)), shownMs)
}

/** Shows an error's sentence, with the id of the request for a report. */
export function showError(error: unknown): void {
  const requestId = requestIdOf(error)
  showToast(requestId === null ? messageOf(error) : `${messageOf(error)} (request ${requestId})`, true)
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div
      role="status"
      aria-live="polite"
      className="fixed right-4 bottom-4 left-4 z-40 grid gap-2 sm:left-auto sm:max-w-sm"
    >
      {shown.map(({ id, text, isError }) => (
        <p
          key={id}
          className={`m-0 animate-appear rounded-lg border border-line bg-panel px-4 py-2.5 text-sm shadow-float ${isError ? 'text-bad' : ''}`}
        >
          {text}
        </p>
      ))}
    </div>
  )
}
