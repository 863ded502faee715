/** What belongs to the person: keys, account, inbox. */
import { dialog, type ShownPage } from './shown-page.ts'

export function yours(): ShownPage[] {
  return [
    {
      ...{ name: 'keys', as: 'admin', path: '/keys', shows: 'build server' },
      dialogs: [
        dialog('keys-new', 'New API key', 'Make key'),
        dialog('keys-revoke', 'Revoke build server', 'Type build server'),
      ],
    },
    { name: 'keys-none', as: 'founder', path: '/keys', shows: 'No API keys' },
    {
      ...{ name: 'keys-ssh', as: 'admin', path: '/keys?tab=ssh', shows: 'laptop' },
      dialogs: [dialog('keys-ssh-add', 'Add SSH key', 'Never paste')],
    },
    {
      ...{ name: 'keys-providers', as: 'admin', path: '/keys?tab=providers', shows: 'OpenRouter' },
      dialogs: [dialog('keys-providers-set', 'Set the key of OpenRouter', 'stored sealed')],
    },
    {
      name: 'keys-providers-newcomer',
      as: 'newcomer',
      path: '/keys?tab=providers',
      shows: 'you are in none',
    },
    { name: 'keys-providers-member', as: 'member', path: '/keys?tab=providers', shows: 'Only admins' },
    { name: 'keys-connections', as: 'admin', path: '/keys?tab=connections', shows: 'Email and password' },
    {
      ...{ name: 'account', as: 'admin', path: '/account', shows: 'this one' },
      dialogs: [
        dialog('account-close', 'Close account', 'signed out everywhere'),
        dialog('account-erase', 'Erase account', 'Type erase my account data'),
      ],
    },
    { name: 'account-unconfirmed', as: 'unconfirmed', path: '/account', shows: 'Confirm your address.' },
    { name: 'inbox', as: 'admin', path: '/inbox', shows: 'has failed' },
    { name: 'inbox-empty', as: 'founder', path: '/inbox', shows: 'Nothing happened' },
    {
      ...{ name: 'inbox-newcomer', as: 'newcomer', path: '/inbox?tab=preferences' },
      shows: 'You are in no organization',
    },
    { name: 'inbox-preferences', as: 'admin', path: '/inbox?tab=preferences', shows: 'A disk is full' },
  ]
}
