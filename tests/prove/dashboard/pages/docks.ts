/** The list of Docks, and the parts of a Dock. */
import type { Lively } from '../lively-data.ts'
import { button, dialog, nowhere, type ShownPage } from './shown-page.ts'

export function docks({ shop, report, broken, template }: Lively): ShownPage[] {
  return [
    {
      ...{ name: 'docks', as: 'admin', path: '/', shows: 'web-shop' },
      dialogs: [
        {
          ...{ name: 'docks-palette', keys: 'Control+k', shows: 'New Dock' },
          opener: (page) => page.getByLabel('Search by name or id'),
        },
      ],
    },
    {
      ...{ name: 'docks-selected', as: 'admin', path: '/', shows: 'web-shop' },
      act: async (page) => {
        await page.getByLabel('Select web-shop').check()
        await page.getByLabel('Select nightly-report').check()
        await page.getByText('2 Docks selected').waitFor()
      },
      dialogs: [dialog('docks-delete', 'Delete', 'Type 2 Docks')],
    },
    { name: 'docks-no-match', as: 'admin', path: '/?q=nothing', shows: 'No Dock matches' },
    { name: 'docks-none', as: 'founder', path: '/', shows: 'No Docks yet' },
    { name: 'docks-newcomer', as: 'newcomer', path: '/', shows: 'You are in no organization' },
    { name: 'docks-member', as: 'member', path: '/', shows: 'web-shop' },
    { name: 'docks-new', as: 'admin', path: '/docks/new', shows: 'The same without this page' },
    {
      ...{ name: 'docks-new-from', as: 'admin', path: `/docks/new?from=${template}` },
      shows: 'The same without this page',
    },
    {
      ...{ name: 'dock-terminal', as: 'admin', path: `/docks/${shop}`, shows: 'Shell 1' },
      dialogs: [dialog('dock-delete', 'Delete', 'Type web-shop')],
    },
    { name: 'dock-terminal-off', as: 'admin', path: `/docks/${report}`, shows: 'This Dock is stopped' },
    { name: 'dock-broken', as: 'admin', path: `/docks/${broken}`, shows: 'error' },
    {
      ...{ name: 'dock-files', as: 'admin', path: `/docks/${shop}?tab=files`, shows: 'README.md' },
      dialogs: [
        dialog('dock-files-new-folder', 'New folder', 'Make folder'),
        dialog('dock-files-menu', 'Actions for README.md', 'Rename'),
      ],
    },
    {
      ...{ name: 'dock-file', as: 'admin', shows: 'Download' },
      path: `/docks/${shop}?tab=files&path=/home/user/work/README.md`,
    },
    {
      ...{ name: 'dock-file-edit', as: 'admin', shows: 'Download' },
      path: `/docks/${shop}?tab=files&path=/home/user/work/README.md`,
      act: async (page) => {
        await page.getByRole('button', { name: 'Edit' }).click()
        await page.getByRole('button', { name: 'Cancel' }).waitFor()
      },
    },
    {
      ...{ name: 'dock-file-image', as: 'admin', shows: 'Download' },
      path: `/docks/${shop}?tab=files&path=/home/user/work/logo.png`,
    },
    {
      ...{ name: 'dock-file-missing', as: 'admin', shows: 'The folder above' },
      path: `/docks/${shop}?tab=files&path=/home/user/work/none`,
    },
    {
      ...{ name: 'dock-processes', as: 'admin', path: `/docks/${shop}?tab=processes`, shows: 'exit 3' },
      dialogs: [dialog('dock-processes-menu', button(/^Signals for while/), 'Pause (STOP)')],
    },
    {
      ...{ name: 'dock-process-output', as: 'admin', path: `/docks/${shop}?tab=processes`, shows: 'exit 3' },
      act: async (page) => {
        await page.getByRole('button', { name: 'Listening on 3000' }).first().click()
        await page.getByText('Following…').waitFor()
      },
    },
    { name: 'dock-overview', as: 'admin', path: `/docks/${shop}?tab=overview`, shows: 'Network' },
    { name: 'dock-overview-new', as: 'admin', path: `/docks/${report}?tab=overview`, shows: 'Auto-stop' },
    { name: 'dock-timeline', as: 'admin', path: `/docks/${broken}?tab=timeline`, shows: 'created the Dock' },
    { name: 'dock-snapshots', as: 'admin', path: `/docks/${report}?tab=snapshots`, shows: 'Compare two' },
    { name: 'dock-snapshots-none', as: 'admin', path: `/docks/${shop}?tab=snapshots`, shows: 'No Snapshots' },
    { name: 'dock-ports', as: 'admin', path: `/docks/${shop}?tab=ports`, shows: '3000' },
    { name: 'dock-ports-off', as: 'admin', path: `/docks/${report}?tab=ports`, shows: 'exposed port' },
    { name: 'dock-connect', as: 'admin', path: `/docks/${shop}?tab=connect`, shows: 'VS Code' },
    {
      ...{ name: 'dock-settings', as: 'admin', path: `/docks/${shop}?tab=settings`, shows: 'version' },
      dialogs: [dialog('dock-settings-delete', 'Delete this Dock', 'Type web-shop')],
    },
    { name: 'dock-settings-off', as: 'admin', path: `/docks/${report}?tab=settings`, shows: 'Resume with' },
    { name: 'dock-missing', as: 'admin', path: `/docks/${nowhere}`, shows: 'request' },
  ]
}
