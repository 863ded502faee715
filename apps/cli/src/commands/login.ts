import { createClient } from '@dock/sdk'
import type { Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { LocalError, UsageError } from '../program/failures.ts'
import { serviceAddress } from '../settings/connection.ts'
import { signInByDevice } from '../settings/device-sign-in.ts'
import { readConfiguration, writeConfiguration } from '../settings/profiles.ts'
import { readSecret } from '../settings/read-secret.ts'

const defaultAddress = async (context: Context, name: string): Promise<string> => {
  if (context.env.DOCK_URL) return context.env.DOCK_URL
  const { profiles } = await readConfiguration(context.env)
  const known = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (known) return known.url
  if (!context.isInteractive) throw new UsageError('Name the service: dock login https://dock.example.com')
  return context.ask('Address of your Dock service: ')
}

const checkKey = (text: string): string => {
  const key = text.trim()
  // The key becomes a header.
  if (!/^[\x21-\x7e]{8,512}$/.test(key))
    throw new LocalError('key_invalid', 'This is not an API key: it is one word of letters and digits.')
  return key
}

/** Signs in, and keeps the key in the configuration. */
export const login: Command = {
  path: ['login'],
  summary: 'Sign in to a Dock service',
  details:
    'Shows a code that you confirm in a browser, which makes an API key named after this machine. With --key, reads a key\nfrom standard input instead, so that it is neither in the arguments nor in the history of your shell.',
  args: [{ name: 'URL', isOptional: true }],
  flags: [
    { name: 'key', about: 'read an API key from standard input' },
    { name: 'workspace', value: 'WORKSPACE', about: 'where new Docks are made' },
  ],
  examples: ['dock login https://dock.example.com', 'dock login https://dock.example.com --key <key.txt'],
  async run(context, input) {
    const name = context.profileName ?? 'default'
    const url = serviceAddress(input.optional('URL') ?? (await defaultAddress(context, name)))
    context.warnIfPlain(url)
    const { apiKey, keyId } = input.has('key')
      ? { apiKey: checkKey(await readSecret(context, 'API key: ')), keyId: undefined }
      : await signInByDevice(context, url)
    const client = createClient({ baseUrl: url, apiKey: checkKey(apiKey) })
    const me = await context.out.wait('Signing in', client.call('readMe'))
    const configuration = await readConfiguration(context.env)
    const workspaceId = input.text('workspace')
    configuration.profiles[name] = {
      url,
      apiKey,
      ...(keyId === undefined ? {} : { keyId }),
      ...(workspaceId === undefined ? {} : { workspaceId }),
    }
    // A profile of its own is only used where it is named, unless it is the first.
    if (context.profileName === undefined || configuration.current === undefined) configuration.current = name
    await writeConfiguration(context.env, configuration)
    context.out.result({ url, profile: name, email: me.email, userId: me.id }, () =>
      context.out.line(`Signed in to ${url} as ${me.email}.`),
    )
  },
}

/** Forgets the key, and revokes it if it was made by this command line. */
export const logout: Command = {
  path: ['logout'],
  summary: 'Sign out: revoke the key that dock login made, and forget it',
  async run(context) {
    const configuration = await readConfiguration(context.env)
    const name = context.profileName ?? configuration.current ?? 'default'
    const profile = Object.hasOwn(configuration.profiles, name) ? configuration.profiles[name] : undefined
    if (!profile) throw new LocalError('not_signed_in', 'You are not signed in.')
    let isRevoked = false
    if (profile.keyId !== undefined) {
      context.warnIfPlain(profile.url)
      const client = createClient({ baseUrl: profile.url, apiKey: profile.apiKey })
      isRevoked = await client.call('revokeApiKey', { params: { id: profile.keyId } }).then(
        () => true,
        () => false,
      )
    }
    delete configuration.profiles[name]
    if (configuration.current === name) delete configuration.current
    await writeConfiguration(context.env, configuration)
    context.out.result({ profile: name, revoked: isRevoked }, () => {
      context.out.line(`Signed out of ${profile.url}.`)
      if (!isRevoked)
        context.out.note('The key itself is still valid. Revoke it with dock key rm, or in the dashboard.')
    })
  },
}

/** Tells who calls, where. */
export const whoami: Command = {
  path: ['whoami'],
  summary: 'Show who you are, and at which service',
  async run(context) {
    const { url, profile } = await context.connection()
    const me = await context.out.wait('Asking', (await context.client()).call('readMe'))
    context.out.result({ ...me, url, profile: profile ?? null }, () => {
      if (context.out.isQuiet) return context.out.line(me.email)
      context.out.fields([
        ['email', me.email],
        ['id', me.id],
        ['service', url],
        ['profile', profile ?? 'none: the key comes from DOCK_API_KEY'],
        ['admin of the instance', me.instanceAdmin ? 'yes' : null],
      ])
    })
  },
}
