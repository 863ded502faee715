import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { BookOpen, LogOut, Monitor, Moon, Sun } from 'lucide-react'
import { meQuery, unreadQuery } from '../../api/queries.ts'
import { IconButton } from '../../components/button.tsx'
import { bareControlClass } from '../../components/field.tsx'
import { Segments } from '../../components/tabs.tsx'
import { chooseOrganization, useCurrentOrganization } from '../../lib/current-organization.ts'
import { chooseTheme, type Theme, useTheme } from '../../lib/theme.ts'
import { accountPage, adminPages, inboxPage, isOn, mainPages, type ShellPage } from './pages.ts'
import { PaletteButton } from './palette-button.tsx'
import { signOut } from './sign-out.ts'

const themeOptions = [
  { value: 'system', label: <Monitor size={15} aria-hidden="true" />, title: 'Theme of the system' },
  { value: 'light', label: <Sun size={15} aria-hidden="true" />, title: 'Light theme' },
  { value: 'dark', label: <Moon size={15} aria-hidden="true" />, title: 'Dark theme' },
] as const satisfies readonly { value: Theme; label: unknown; title: string }[]

const pageLinkClass =
  'flex h-9 items-center gap-2.5 rounded-md px-2.5 text-sm text-muted transition-colors hover:bg-raised hover:text-ink aria-[current=page]:bg-raised aria-[current=page]:font-medium aria-[current=page]:text-ink'

function PageLink({ page, count = 0 }: { page: ShellPage; count?: number }) {
  const pathname = useLocation({ select: (location) => location.pathname })
  const Icon = page.icon
  return (
    <Link
      // Paths of all areas, some of which have parameters: one cast instead of one link for each.
      to={page.path as '/'}
      search={{}}
      aria-current={isOn(page, pathname) ? 'page' : undefined}
      className={pageLinkClass}
    >
      <Icon size={16} strokeWidth={1.8} aria-hidden="true" className="shrink-0" />
      {page.label}
      {count > 0 && (
        <span className="ml-auto rounded-full bg-accent px-1.5 text-xs font-semibold text-on-accent">
          {count > 99 ? '99+' : count}
          <span className="sr-only"> unread</span>
        </span>
      )}
    </Link>
  )
}

/** Pages that show what belongs to one organization. */
const scoped = ['snapshots', 'templates', 'environments', 'runs', 'github', 'webhooks']

/** Returns the list that a page belongs to, or undefined for pages that do not depend on the organization. */
export function listOf(pathname: string, organizationId: string): string | undefined {
  const [, area = '', part] = pathname.split('/')
  if (area === 'organization') return `/organization/${organizationId}`
  if (area === 'docks') return part === 'new' ? undefined : '/'
  return scoped.includes(area) || area === '' ? `/${area}` : undefined
}

/** The choice of the organization, for people who are in several. It is that of all pages. */
function OrganizationChoice() {
  const { organizations, organization } = useCurrentOrganization()
  const navigate = useNavigate()
  const pathname = useLocation({ select: (location) => location.pathname })
  if (organizations.length < 2) return null
  const choose = (id: string): void => {
    chooseOrganization(id)
    const to = listOf(pathname, id)
    // What the page shows belongs to the other organization, and so does what its address asks for.
    if (to !== undefined) void navigate({ to: to as '/', search: {} })
  }
  return (
    <select
      aria-label="Organization"
      value={organization?.id}
      onChange={({ target }) => choose(target.value)}
      className={`w-full cursor-pointer ${bareControlClass}`}
    >
      {organizations.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}

/** The links to all pages, and what belongs to the person at the foot. */
export function Navigation({ onPalette }: { onPalette: () => void }) {
  const { data: me } = useQuery(meQuery)
  const { data: unread = 0 } = useQuery(unreadQuery)
  const { organization } = useCurrentOrganization()
  const theme = useTheme()
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto p-3">
      <PaletteButton onOpen={onPalette} />
      <OrganizationChoice />
      <nav aria-label="Pages" className="grid gap-0.5">
        {mainPages(organization?.id).map((page) => (
          <PageLink key={page.label} page={page} />
        ))}
      </nav>
      {me?.instanceAdmin && (
        <nav aria-label="This instance" className="grid gap-0.5 border-t border-line pt-3">
          {adminPages.map((page) => (
            <PageLink key={page.label} page={page} />
          ))}
        </nav>
      )}
      <div className="mt-auto grid grid-cols-1 gap-3 border-t border-line pt-3">
        <nav aria-label="Yours" className="grid gap-0.5">
          <PageLink page={inboxPage} count={unread} />
          <PageLink page={accountPage} />
          <a href="/docs/" target="_blank" rel="noreferrer" className={pageLinkClass}>
            <BookOpen size={16} strokeWidth={1.8} aria-hidden="true" className="shrink-0" />
            Documentation
          </a>
        </nav>
        <Segments label="Theme" value={theme} options={themeOptions} onChange={chooseTheme} />
        <div className="flex items-center gap-2 pl-2.5">
          <span className="min-w-0 flex-1 truncate text-xs text-muted" title={me?.email}>
            {me?.email}
          </span>
          <IconButton label="Sign out" onClick={() => void signOut()}>
            <LogOut size={16} strokeWidth={1.8} aria-hidden="true" />
          </IconButton>
        </div>
      </div>
    </div>
  )
}
