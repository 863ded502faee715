/** The theme: light, dark, or that of the system. The choice is kept in this browser. */
import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'dock-theme'
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

/** Returns the chosen theme. */
function chosenTheme(): Theme {
  const stored = localStorage.getItem(key)
  return themes.find((theme) => theme === stored) ?? 'system'
}

const show = (): void => {
  const theme = chosenTheme()
  const isDark = theme === 'dark' || (theme === 'system' && systemIsDark.matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
  for (const listener of listeners) listener()
}

/** Shows the chosen theme, and follows the system if that was chosen. */
export function applyTheme(): void {
  show()
  systemIsDark.addEventListener('change', show)
  addEventListener('storage', show)
}

/** Chooses a theme and shows it. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme)
  show()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns the chosen theme, again when it changes. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, chosenTheme)
}

/** Returns whether the page is dark now, again when that changes. */
export function useIsDark(): boolean {
  return useSyncExternalStore(subscribe, () => document.documentElement.dataset.theme === 'dark')
}
