/** Runs and GitHub on the first day: the server of the proof has no App until these are seen. */
import { nowhere, type ShownPage } from './shown-page.ts'

export function runs(): ShownPage[] {
  return [
    { name: 'runs', as: 'admin', path: '/runs', shows: 'Runs' },
    { name: 'runs-newcomer', as: 'newcomer', path: '/runs', shows: 'You are in no organization' },
    { name: 'run-missing', as: 'admin', path: `/runs/${nowhere}`, shows: 'request' },
    { name: 'github', as: 'admin', path: '/github', shows: 'GitHub' },
    { name: 'github-member', as: 'member', path: '/github', shows: 'GitHub' },
    { name: 'github-newcomer', as: 'newcomer', path: '/github', shows: 'You are in no organization' },
    { name: 'installation-missing', as: 'admin', path: `/github/installations/${nowhere}`, shows: 'request' },
    { name: 'github-app', as: 'admin', path: '/github/app', shows: 'GitHub' },
    { name: 'github-linked', as: 'admin', path: '/github/linked', shows: 'GitHub' },
  ]
}
