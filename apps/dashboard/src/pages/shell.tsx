import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { authenticate, isSignedOut } from '../api/client.ts'
import { followChanges } from '../api/live.ts'
import { meQuery } from '../api/queries.ts'
import { Button } from '../components/button.tsx'
import { showError } from '../components/toasts.tsx'
import { chooseTheme, chosenTheme, themes } from '../lib/theme.ts'

const themeNames = { system: 'System', light: 'Light', dark: 'Dark' } as const

/** The frame of all pages of a signed-in person. It keeps what they show up to date. */
export function Shell() {
  const client = useQueryClient()
  const router = useRouter()
  const me = useQuery(meQuery)
  const [isConnected, setConnected] = useState(true)
  const [theme, setTheme] = useState(chosenTheme)
  useEffect(() => followChanges(client, setConnected), [client])
  const hasEnded = isSignedOut(me.error)
  useEffect(() => {
    if (hasEnded) void router.navigate({ to: '/sign-in', search: { next: router.state.location.href } })
  }, [hasEnded, router])

  const signOut = async (): Promise<void> => {
    try {
      await authenticate('/sign-out', {})
      location.assign('/sign-in')
    } catch (error) {
      showError(error)
    }
  }
  return (
    <div className="min-h-screen">
      <header className="flex h-14 items-center gap-4 border-b border-line bg-panel px-4">
        <Link to="/" search={{}} className="flex items-center gap-2 font-semibold">
          <img src="/icon.svg" alt="" className="size-6" />
          Dock
        </Link>
        <nav className="flex gap-4 text-sm" aria-label="Pages">
          <Link
            to="/"
            search={{}}
            className="text-muted hover:text-ink"
            activeProps={{ className: 'text-ink' }}
          >
            Docks
          </Link>
        </nav>
        <div className="ml-auto flex min-w-0 items-center gap-2">
          <span className="hidden max-w-48 truncate text-sm text-muted sm:block">{me.data?.email}</span>
          <select
            aria-label="Theme"
            value={theme}
            onChange={({ target }) => {
              const chosen = themes.find((each) => each === target.value) ?? 'system'
              chooseTheme(chosen)
              setTheme(chosen)
            }}
            className="h-9 rounded-md border border-line bg-panel px-2 text-sm"
          >
            {themes.map((each) => (
              <option key={each} value={each}>
                {themeNames[each]}
              </option>
            ))}
          </select>
          <Button look="quiet" onClick={() => void signOut()}>
            Sign out
          </Button>
        </div>
      </header>
      {!isConnected && (
        <p role="status" className="m-0 border-b border-line bg-raised px-4 py-2 text-sm text-wait">
          The connection to the service is lost. What you see may be old; this page catches up by itself.
        </p>
      )}
      <Outlet />
    </div>
  )
}
