/** Pages of people who are not signed in, and of people whom a link leads here. */
import type { Lively } from '../lively-data.ts'
import type { ShownPage } from './shown-page.ts'

export function signedOut({ invitationToken, deviceCode }: Lively): ShownPage[] {
  return [
    { name: 'sign-in', as: 'nobody', path: '/sign-in', shows: 'Continue with GitHub' },
    {
      ...{ name: 'sign-in-refused', as: 'nobody', path: '/sign-in', shows: 'Continue with GitHub' },
      act: async (page) => {
        await page.getByLabel('Email address').fill('nobody@example.test')
        await page.getByLabel('Password').fill('wrong')
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
        await page.getByRole('alert').waitFor()
      },
    },
    { name: 'sign-up', as: 'nobody', path: '/sign-up', shows: 'Create an account' },
    { name: 'forgot-password', as: 'nobody', path: '/forgot-password', shows: 'Forgot your password?' },
    { name: 'reset-password', as: 'nobody', path: '/reset-password?token=none', shows: 'Set a new password' },
    { name: 'reset-password-cut', as: 'nobody', path: '/reset-password', shows: 'Set a new password' },
    {
      name: 'invitation-nobody',
      as: 'nobody',
      path: `/invitations/${invitationToken}`,
      shows: 'Sign in with',
    },
    { name: 'invitation', as: 'newcomer', path: `/invitations/${invitationToken}`, shows: 'Join' },
    {
      name: 'invitation-of-another',
      as: 'member',
      path: `/invitations/${invitationToken}`,
      shows: 'request',
    },
    { name: 'account-closed', as: 'closed', path: '/account-closed', shows: 'Reopen account' },
    { name: 'device-sign-in', as: 'nobody', path: `/device?code=${deviceCode}`, shows: 'A machine asks' },
    { name: 'device', as: 'admin', path: `/device?code=${deviceCode}`, shows: 'Approve' },
    { name: 'device-code', as: 'admin', path: '/device', shows: 'Code that the machine shows' },
    { name: 'not-found', as: 'admin', path: '/no/such/page', shows: 'There is nothing here' },
  ]
}
