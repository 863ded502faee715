import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useLocation, useRouter } from '@tanstack/react-router'
import { Menu } from 'lucide-react'
import { useEffect, useState } from 'react'
import { isSignedOut } from '../../api/client.ts'
import { followChanges } from '../../api/live.ts'
import { meQuery } from '../../api/queries.ts'
import { IconButton } from '../../components/button.tsx'
import { laterPart } from '../../components/later-part.tsx'
import { Navigation } from './navigation.tsx'
import { usePalette } from './palette-button.tsx'

// Most people never see it.
const VerificationNotice = laterPart(
  async () => (await import('../account/verification-notice.tsx')).VerificationNotice,
)
const Drawer = laterPart(async () => (await import('./drawer.tsx')).Drawer, { over: true })

function Logo() {
  return (
    <Link to="/" search={{}} className="flex items-center gap-2 rounded-md font-semibold">
      <img src="/icon.svg" alt="" className="size-6" />
      Dock
    </Link>
  )
}

/** Opens the navigation of narrow screens. It closes when a link of it was followed. */
function DrawerButton({ onPalette }: { onPalette: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const pathname = useLocation({ select: (location) => location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes it.
  useEffect(() => setOpen(false), [pathname])
  return (
    <>
      <IconButton
        label="Open the navigation"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      >
        <Menu size={20} aria-hidden="true" />
      </IconButton>
      {isOpen && <Drawer onClose={() => setOpen(false)} onPalette={onPalette} />}
    </>
  )
}

/** The link that confirms the address may be opened elsewhere, or an instance admin vouches for it. */
const confirmedEveryMs = 10_000

/** The frame of all pages of a signed-in person. It keeps what they show up to date. */
export function Shell() {
  const client = useQueryClient()
  const router = useRouter()
  const me = useQuery({
    ...meQuery,
    refetchInterval: ({ state }) => (state.data?.emailVerified === false ? confirmedEveryMs : false),
  })
  const palette = usePalette()
  const [isConnected, setConnected] = useState(true)
  // Before the address is confirmed there is nothing to follow, and the service offers no stream.
  const isConfirmed = me.data?.emailVerified !== false
  useEffect(() => (isConfirmed ? followChanges(client, setConnected) : undefined), [client, isConfirmed])
  // What had the focus may be gone with the page before. The keyboard then goes on at the new page.
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        if (fromLocation && pathChanged && document.activeElement === document.body)
          document.getElementById('content')?.focus({ preventScroll: true })
      }),
    [router],
  )
  const hasEnded = isSignedOut(me.error)
  useEffect(() => {
    if (hasEnded) void router.navigate({ to: '/sign-in', search: { next: router.state.location.href } })
  }, [hasEnded, router])
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[14.5rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="fixed top-2 left-2 z-40 -translate-y-16 rounded-md border border-line bg-panel px-3 py-2 text-sm focus:translate-y-0 focus:shadow-float"
      >
        Skip to the page
      </a>
      <header className="sticky top-0 z-10 flex h-13 items-center gap-2 border-b border-line bg-panel px-2 md:hidden">
        <DrawerButton onPalette={palette.open} />
        <Logo />
      </header>
      <aside
        aria-label="Navigation"
        className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-panel md:flex"
      >
        <div className="flex h-13 shrink-0 items-center px-5">
          <Logo />
        </div>
        <Navigation onPalette={palette.open} />
      </aside>
      <div id="content" tabIndex={-1} className="min-w-0 outline-none">
        {!isConnected && (
          <p role="status" className="m-0 border-b border-line bg-soft-wait px-4 py-2 text-sm text-wait">
            The connection to the service is lost. What you see may be old; this page catches up by itself.
          </p>
        )}
        {me.data && !isConfirmed && (
          <div className="px-4 pt-4 md:px-7.5">
            <VerificationNotice email={me.data.email} />
          </div>
        )}
        <Outlet />
      </div>
      {palette.palette}
    </div>
  )
}
