import { X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { messageOf, requestIdOf } from '../api/client.ts'
import { IconButton } from './button.tsx'

type Toast = { id: number; text: string; isError: boolean }

let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()
const shownMs = 6_000
/** What went wrong stays long enough to be read twice, and copied. */
const errorShownMs = 30_000

const change = (next: readonly Toast[]): void => {
  toasts = next
  for (const listener of listeners) listener()
}
const hide = (id: number): void => change(toasts.filter((toast) => toast.id !== id))

/** Shows a short message for some seconds. */
export function showToast(text: string, isError = false): void {
  const id = ++last
  change([...toasts.slice(-3), { id, text, isError }])
  setTimeout(() => hide(id), isError ? errorShownMs : shownMs)
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
      className="pointer-events-none fixed right-4 bottom-4 left-4 z-40 grid gap-2 sm:left-auto sm:max-w-sm"
    >
      {shown.map(({ id, text, isError }) => (
        <div
          key={id}
          className="pointer-events-auto flex animate-appear items-start gap-2 rounded-lg border border-line bg-panel py-1.5 pr-1.5 pl-4 text-sm shadow-float"
        >
          <p className={`m-0 min-w-0 flex-1 py-1 ${isError ? 'text-bad' : ''}`}>{text}</p>
          <IconButton label="Dismiss" className="size-7" onClick={() => hide(id)}>
            <X size={15} aria-hidden="true" />
          </IconButton>
        </div>
      ))}
    </div>
  )
}
