/** Snapshots and Templates. */
import type { Lively } from '../lively-data.ts'
import { dialog, nowhere, type ShownPage } from './shown-page.ts'

export function snapshots({ snapshots: [older, newer] }: Lively): ShownPage[] {
  return [
    { name: 'snapshots', as: 'admin', path: '/snapshots', shows: 'nightly-report' },
    { name: 'snapshots-none', as: 'founder', path: '/snapshots', shows: 'No Snapshots yet' },
    { name: 'snapshot', as: 'admin', path: `/snapshots/${newer}`, shows: 'report.txt' },
    {
      ...{ name: 'snapshot-file', as: 'admin', shows: 'Download' },
      path: `/snapshots/${newer}?path=/home/user/work&file=report.txt`,
    },
    {
      name: 'snapshot-diff',
      as: 'admin',
      path: `/snapshots/${older}/diff/${newer}`,
      shows: 'folders differ.',
    },
    { name: 'snapshot-missing', as: 'admin', path: `/snapshots/${nowhere}`, shows: 'request' },
    {
      ...{ name: 'templates', as: 'admin', path: '/templates', shows: 'report-base' },
      dialogs: [dialog('templates-delete', 'Delete', 'Type report-base')],
    },
    { name: 'templates-none', as: 'founder', path: '/templates', shows: 'No Templates yet' },
  ]
}
