/** The pages that the navigation and the palette lead to. */
import {
  Bell,
  Bot,
  Box,
  Building2,
  Camera,
  FolderGit2,
  Gauge,
  KeyRound,
  Layers,
  type LucideIcon,
  ScrollText,
  Server,
  SlidersHorizontal,
  UserRound,
  Webhook,
} from 'lucide-react'

export type ShellPage = {
  label: string
  path: string
  icon: LucideIcon
  /** Where the page has parts with addresses of their own. The path itself, if not given. */
  under?: RegExp
}

export const docksPage: ShellPage = { label: 'Docks', path: '/', icon: Box, under: /^\/($|docks\/)/ }

/** Pages of everybody. `orgId` is the organization that is chosen. */
export function mainPages(orgId: string | undefined): readonly ShellPage[] {
  return [
    docksPage,
    { label: 'Snapshots', path: '/snapshots', icon: Camera },
    { label: 'Templates', path: '/templates', icon: Layers },
    { label: 'Environments', path: '/environments', icon: SlidersHorizontal },
    { label: 'Runs', path: '/runs', icon: Bot },
    { label: 'GitHub', path: '/github', icon: FolderGit2 },
    { label: 'Webhooks', path: '/webhooks', icon: Webhook },
    ...(orgId === undefined
      ? [{ label: 'Organizations', path: '/organizations', icon: Building2 }]
      : [
          {
            label: 'Organization',
            path: `/organization/${orgId}`,
            icon: Building2,
            under: /^\/organization\//,
          },
        ]),
    { label: 'Keys', path: '/keys', icon: KeyRound },
  ]
}

/** Pages of the people who run this instance. */
export const adminPages: readonly ShellPage[] = [
  { label: 'Hosts', path: '/hosts', icon: Server },
  { label: 'Plans', path: '/plans', icon: Gauge },
  { label: 'Audit log', path: '/audit', icon: ScrollText },
]

export const inboxPage: ShellPage = { label: 'Inbox', path: '/inbox', icon: Bell }
export const accountPage: ShellPage = { label: 'Account', path: '/account', icon: UserRound }

/** True if the address belongs to the page. */
export function isOn(page: ShellPage, pathname: string): boolean {
  return page.under
    ? page.under.test(pathname)
    : pathname === page.path || pathname.startsWith(`${page.path}/`)
}
