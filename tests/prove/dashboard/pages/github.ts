/** Pages of an instance with a GitHub App, linked repositories and Runs. They are opened after those of the first day. */
import type { LivelyGithub } from '../lively-github.ts'
import { dialog, type ShownPage } from './shown-page.ts'

export function github({ installationId, atWork, proposed, failed }: LivelyGithub): ShownPage[] {
  return [
    { name: 'github-connected', as: 'admin', path: '/github', shows: 'acme/web-shop' },
    { name: 'github-connected-member', as: 'member', path: '/github', shows: 'acme/web-shop' },
    {
      ...{ name: 'installation', as: 'admin', shows: 'Budget in US dollars' },
      path: `/github/installations/${installationId}`,
      dialogs: [dialog('installation-unlink', 'Unlink', 'Type acme/')],
    },
    {
      ...{ name: 'installation-member', as: 'member', shows: 'Budget in US dollars' },
      path: `/github/installations/${installationId}`,
    },
    {
      ...{ name: 'runs-listed', as: 'admin', path: '/runs', shows: 'acme/web-shop #' },
      dialogs: [dialog('runs-start', 'Start a Run', 'Issue')],
    },
    {
      ...{ name: 'run-at-work', as: 'admin', path: `/runs/${atWork}`, shows: 'Timeline' },
      dialogs: [dialog('run-stop', 'Stop', 'Stop')],
    },
    {
      ...{ name: 'run-proposed', as: 'admin', path: `/runs/${proposed}`, shows: 'the diff' },
    },
    {
      ...{ name: 'run-failed', as: 'admin', path: `/runs/${failed}`, shows: 'Timeline' },
      dialogs: [dialog('run-retry', 'Retry', 'Instruction')],
    },
    { name: 'run-member', as: 'member', path: `/runs/${atWork}`, shows: 'only admins' },
  ]
}
