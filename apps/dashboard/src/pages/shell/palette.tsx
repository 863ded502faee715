import type { ListedDock } from '@dock/sdk'
import { searchLengthMax } from '@dock/sdk/dashboard-rules'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { Box, LogOut, Monitor, Moon, Plus, Sun } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { foundDocksQuery, meQuery, organizationsQuery, workspacesQuery } from '../../api/queries.ts'
import { useReturnFocus } from '../../components/return-focus.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { showError } from '../../components/toasts.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { usePerson } from '../../lib/dock-rights.ts'
import { chooseTheme } from '../../lib/theme.ts'
import { DeleteDockDialog } from '../dock/delete-dock-dialog.tsx'
import { createDock } from '../docks/create-dock.ts'
import { accountPage, adminPages, inboxPage, mainPages } from './pages.ts'
import { type DockAction, iconProps, parseWanted, useDockActions } from './palette-docks.tsx'
import { signOut } from './sign-out.ts'

const docksShown = 8

type Action = { id?: string; label: string; icon: ReactNode; run: () => void }

function Item({ id, label, icon, run }: Action) {
  return (
    <Command.Item
      // Two Docks may have one name.
      value={id ?? label}
      onSelect={run}
      className="flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm data-[selected=true]:bg-raised"
    >
      {icon}
      <bdi className="min-w-0 truncate">{label}</bdi>
    </Command.Item>
  )
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted"
    >
      {children}
    </Command.Group>
  )
}

/** Creates a Dock in the first workspace and opens its terminal. */
function useNewDock(): () => Promise<void> {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { organization } = useCurrentOrganization()
  return async () => {
    const organizations = await client.ensureQueryData(organizationsQuery)
    const orgId = organization?.id ?? organizations[0]?.id
    const workspaces = orgId === undefined ? [] : await client.ensureQueryData(workspacesQuery(orgId))
    if (!workspaces[0])
      throw new Error('You have no workspace. Make an organization first, on the page Organizations.')
    const { id } = await createDock(workspaces[0].id)
    await navigate({ to: '/docks/$id', params: { id }, search: { tab: 'terminal' } })
  }
}

/** Reaches every page and action by a few letters. */
export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const newDock = useNewDock()
  const { data: me } = useQuery(meQuery)
  const { organization } = useCurrentOrganization()
  const [typed, setTyped] = useState('')
  const focus = useReturnFocus()
  const wanted = typed.trim().toLowerCase()
  const { verb, rest } = parseWanted(wanted)
  const find = (text: string) =>
    foundDocksQuery(organization?.id, text.slice(0, searchLengthMax) || undefined, docksShown)
  const docks = useQuery({ ...find(wanted), placeholderData: keepPreviousData })
  // No earlier result: Enter must not stop another Dock than the one that is typed.
  const targets = useQuery({ ...find(rest), enabled: verb !== undefined })
  const [deleting, setDeleting] = useState<ListedDock>()
  const actionsOf = useDockActions(usePerson(), setDeleting)

  const run = (work: () => unknown) => (): void => {
    onClose()
    Promise.resolve(work()).catch(showError)
  }
  const matches = ({ label }: { label: string }): boolean => label.toLowerCase().includes(wanted)
  const pages = [
    ...mainPages(organization?.id),
    inboxPage,
    accountPage,
    ...(me?.instanceAdmin ? adminPages : []),
  ]
    .filter(matches)
    .map(({ label, path, icon: Icon }) => ({
      label,
      icon: <Icon {...iconProps} />,
      run: run(() => navigate({ to: path as '/', search: {} })),
    }))
  const actions: Action[] = [
    { label: 'New Dock', icon: <Plus {...iconProps} />, run: run(newDock) },
    { label: 'Theme: light', icon: <Sun {...iconProps} />, run: run(() => chooseTheme('light')) },
    { label: 'Theme: dark', icon: <Moon {...iconProps} />, run: run(() => chooseTheme('dark')) },
    {
      label: 'Theme: as the system',
      icon: <Monitor {...iconProps} />,
      run: run(() => chooseTheme('system')),
    },
    { label: 'Sign out', icon: <LogOut {...iconProps} />, run: run(signOut) },
  ].filter(matches)
  const found = docks.data ?? []
  /** What can be done with the one Dock that is left, or what the verb means for each that has the rest as its name. */
  const dockActions: DockAction[] =
    verb !== undefined
      ? (targets.data ?? []).flatMap(actionsOf).filter((action) => action.verb === verb)
      : found.length === 1 && wanted !== '' && !docks.isPlaceholderData
        ? found.flatMap(actionsOf).filter((action) => action.verb !== 'open')
        : []
  const items = dockActions.map(({ key, label, icon, work, verb: does }) => ({
    // The question before a delete stands in the place of the palette.
    id: key,
    label,
    icon,
    run: does === 'delete' ? () => void work() : run(work),
  }))
  if (deleting) return <DeleteDockDialog dock={deleting} open onClose={onClose} />
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 animate-appear bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          {...focus}
          className="fixed top-[12dvh] left-1/2 z-30 w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 animate-appear overflow-hidden rounded-xl border border-line bg-panel shadow-float"
        >
          <Dialog.Title className="sr-only">Go to a page, or do something</Dialog.Title>
          <Command shouldFilter={false} label="Pages and actions" loop>
            <Command.Input
              value={typed}
              onValueChange={setTyped}
              maxLength={searchLengthMax}
              placeholder="A page, a Dock, or “stop web”"
              className="h-12 w-full border-b border-line bg-panel px-4 text-base -outline-offset-2 placeholder:text-muted"
            />
            <Command.List className="max-h-[60dvh] overflow-y-auto p-1.5">
              <Command.Empty className="px-2.5 py-6 text-center text-sm text-muted">
                Nothing has this name.
              </Command.Empty>
              {actions.length > 0 && wanted !== '' && (
                <Group heading="Actions">
                  {actions.map((action) => (
                    <Item key={action.label} {...action} />
                  ))}
                </Group>
              )}
              {items.length > 0 && verb !== undefined && (
                <Group heading="Docks: actions">
                  {items.map((item) => (
                    <Item key={item.id} {...item} />
                  ))}
                </Group>
              )}
              {pages.length > 0 && (
                <Group heading="Pages">
                  {pages.map((page) => (
                    <Item key={page.label} {...page} />
                  ))}
                </Group>
              )}
              {found.length > 0 && (
                <Group heading="Docks">
                  {found.map(({ id, name, state }) => (
                    <Command.Item
                      key={id}
                      value={id}
                      onSelect={run(() => navigate({ to: '/docks/$id', params: { id }, search: {} }))}
                      className="flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm data-[selected=true]:bg-raised"
                    >
                      <Box {...iconProps} />
                      <bdi className="min-w-0 truncate">{name ?? id}</bdi>
                      <span className="ml-auto text-xs">
                        <StateBadge state={state} />
                      </span>
                    </Command.Item>
                  ))}
                  {verb === undefined && items.map((item) => <Item key={item.id} {...item} />)}
                </Group>
              )}
              {actions.length > 0 && wanted === '' && (
                <Group heading="Actions">
                  {actions.map((action) => (
                    <Item key={action.label} {...action} />
                  ))}
                </Group>
              )}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
