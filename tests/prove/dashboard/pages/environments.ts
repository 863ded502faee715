/** Environments. */
import type { Lively } from '../lively-data.ts'
import { dialog, nowhere, type ShownPage } from './shown-page.ts'

export function environments({ environmentId, emptyEnvironmentId }: Lively): ShownPage[] {
  const at = (tab: string, id = environmentId) => `/environments/${id}?tab=${tab}`
  return [
    {
      ...{ name: 'environments', as: 'admin', path: '/environments', shows: 'web-app' },
      dialogs: [dialog('environments-new', 'New Environment', 'Make Environment')],
    },
    { name: 'environments-member', as: 'member', path: '/environments', shows: 'web-app' },
    { name: 'environments-none', as: 'newcomer', path: '/environments', shows: 'You are in no organization' },
    {
      ...{ name: 'environment', as: 'admin', path: at('contents'), shows: 'DATABASE_URL' },
      dialogs: [
        dialog('environment-add-variable', 'Add variable', 'Letters, digits'),
        dialog('environment-replace-variable', 'Replace DATABASE_URL', 'Docks keep'),
        dialog('environment-remove-variable', 'Remove DATABASE_URL', 'Type DATABASE_URL'),
        dialog('environment-add-file', 'Add file', 'Relative to the work folder'),
        dialog('environment-text', 'Edit as text', 'STRIPE_API_KEY'),
      ],
    },
    {
      ...{ name: 'environment-revealed', as: 'admin', path: at('contents'), shows: 'DATABASE_URL' },
      act: async (page) => {
        await page.getByRole('button', { name: 'Reveal values' }).click()
        await page.getByText('sk_test_canary').waitFor()
      },
    },
    { name: 'environment-member', as: 'member', path: at('contents'), shows: 'DATABASE_URL' },
    {
      name: 'environment-empty',
      as: 'admin',
      path: at('contents', emptyEnvironmentId),
      shows: 'No variables',
    },
    {
      ...{ name: 'environment-repositories', as: 'admin', path: at('repositories'), shows: 'acme/web-shop' },
      dialogs: [dialog('environment-add-repository', 'Add repository', 'Setup script')],
    },
    { name: 'environment-posture', as: 'admin', path: at('posture'), shows: 'Safe for third parties' },
    { name: 'environment-posture-member', as: 'member', path: at('posture'), shows: 'Only admins' },
    { name: 'environment-versions', as: 'admin', path: at('versions'), shows: 'web-shop' },
    {
      ...{ name: 'environment-settings', as: 'admin', path: at('settings'), shows: 'Make it the default' },
      dialogs: [dialog('environment-delete', 'Delete Environment', 'Type web-app')],
    },
    { name: 'environment-settings-member', as: 'member', path: at('settings'), shows: 'Only admins' },
    { name: 'environment-missing', as: 'admin', path: `/environments/${nowhere}`, shows: 'request' },
  ]
}
