/** Organizations and their people. */
import type { Lively } from '../lively-data.ts'
import { dialog, nowhere, type ShownPage } from './shown-page.ts'

export function organizations({ organizationId }: Lively): ShownPage[] {
  const at = (tab: string) => `/organization/${organizationId}/${tab}`
  return [
    {
      ...{ name: 'organizations', as: 'admin', path: '/organizations', shows: 'Northwind Traders' },
      dialogs: [dialog('organizations-new', 'New organization', 'Make organization')],
    },
    { name: 'organizations-invited', as: 'newcomer', path: '/organizations', shows: 'You are invited' },
    {
      ...{ name: 'members', as: 'admin', path: at('members'), shows: 'grace@example.test' },
      dialogs: [
        dialog('members-invite', 'Invite', 'Make invitation'),
        dialog('members-remove', 'Remove', 'Type grace@example.test'),
      ],
    },
    { name: 'members-member', as: 'member', path: at('members'), shows: 'Leave' },
    {
      ...{ name: 'workspaces', as: 'admin', path: at('workspaces'), shows: 'Research' },
      dialogs: [
        dialog('workspaces-new', 'New workspace', 'Make workspace'),
        dialog('workspaces-rename', 'Rename', 'Name'),
      ],
    },
    { name: 'usage', as: 'admin', path: at('usage'), shows: 'Docks that are on' },
    {
      ...{ name: 'retention', as: 'admin', path: at('retention'), shows: 'While it is off' },
      dialogs: [dialog('retention-on', 'Turn zero data retention on', 'This cannot be undone')],
    },
    { name: 'audit', as: 'admin', path: at('audit'), shows: 'created the Dock' },
    { name: 'audit-none', as: 'admin', path: at('audit?to=2020-01-01'), shows: 'No entry matches' },
    { name: 'audit-member', as: 'member', path: at('audit'), shows: 'request' },
    { name: 'retention-member', as: 'member', path: at('retention'), shows: 'Only an owner' },
    {
      ...{ name: 'organization-settings', as: 'admin', path: at('settings'), shows: 'Slug' },
      dialogs: [dialog('organization-delete', 'Delete organization', 'All members lose access')],
    },
    { name: 'organization-settings-member', as: 'member', path: at('settings'), shows: 'Only admins' },
    { name: 'organization-missing', as: 'admin', path: `/organization/${nowhere}/members`, shows: 'request' },
  ]
}
