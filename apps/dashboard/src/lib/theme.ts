/** The theme: light, dark, or that of the system. The choice is kept in this browser. */
export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'dock-theme'
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

/** Returns the chosen theme. */
export function chosenTheme(): Theme {
  const stored = localStorage.getItem(key)
  return themes.find((theme) => theme === stored) ?? 'system'
}

/** Shows the chosen theme, and follows the system if that was chosen. */
export function applyTheme(): void {
  const show = (): void => {
    const theme = chosenTheme()
    const isDark = theme === 'dark' || (theme === 'system' && systemIsDark.matches)
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
  }
  show()
  systemIsDark.addEventListener('change', show)
  addEventListener('storage', show)
}

/** Chooses a theme and shows it. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(key, theme)
  const isDark = theme === 'dark' || (theme === 'system' && systemIsDark.matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}
