/**
 * Returns the focus when a dialog closes. radix does so only for dialogs with a trigger of its own, and ours are opened
 * by buttons and menus of the page.
 */
import { useRef } from 'react'

/** Returns what a person can return to: a menu is gone when its dialog closes, but its button is there. */
const openerOf = (focused: Element | null): Element | null => {
  const button = focused?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return button ? document.getElementById(button) : focused
}

/** Gives handlers for the content of a dialog. If its opener is gone, the page itself gets the focus. */
export function useReturnFocus(): {
  onOpenAutoFocus: () => void
  onCloseAutoFocus: (event: Event) => void
} {
  const opener = useRef<Element | null>(null)
  return {
    onOpenAutoFocus: () => {
      opener.current = openerOf(document.activeElement)
    },
    onCloseAutoFocus: (event) => {
      event.preventDefault()
      const target = opener.current?.isConnected ? opener.current : document.getElementById('content')
      if (target instanceof HTMLElement) target.focus({ preventScroll: target.id === 'content' })
    },
  }
}
