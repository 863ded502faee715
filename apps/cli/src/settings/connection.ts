/** Decides which service is called, and with which key. */
import { LocalError, SignInFirst, UsageError } from '../program/failures.ts'
import { type Configuration, type Profile, readConfiguration } from './profiles.ts'

export type Connection = {
  url: string
  apiKey: string
  /** The profile that they come from, if they do. */
  profile?: string
  workspaceId?: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the address in one spelling, without a slash at its end. */
export function serviceAddress(text: string): string {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`
  const url = URL.canParse(whole) ? new URL(whole) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new UsageError(
      `${JSON.stringify(text)} is not the address of a service. Write it as https://dock.example.com.`,
    )
  if (url.username || url.password || url.search || url.hash)
    throw new UsageError('The address of the service has no user name, password, query or fragment.')
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/** Returns true if the host, as in an URL, is this computer. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/** Returns true if the key would cross a network where others can read it. */
export function isPlainToAnotherMachine(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol !== 'https:' && !isLoopback(hostname)
}

const ofProfile = (name: string, { url, apiKey, workspaceId }: Profile): Connection => ({
  url: serviceAddress(url),
  apiKey,
  profile: name,
  ...(workspaceId === undefined ? {} : { workspaceId }),
})

/** Returns the profile with this name. Names such as `__proto__` are none. */
const findProfile = ({ profiles }: Configuration, name: string): Profile | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined

const howToSignIn = 'Sign in first: dock login https://your-dock-service'

/**
 * Returns the service and the key. `--profile` counts most, then `DOCK_URL` and `DOCK_API_KEY`, then the current profile. A
 * key is never sent to a service other than the one it was given for.
 */
export async function findConnection(env: Environment, profileName?: string): Promise<Connection> {
  const configuration = await readConfiguration(env)
  if (profileName !== undefined) {
    const profile = findProfile(configuration, profileName)
    if (!profile)
      throw new LocalError(
        'profile_unknown',
        `There is no profile ${JSON.stringify(profileName)}. ${howToSignIn} --profile NAME`,
      )
    return ofProfile(profileName, profile)
  }
  const { DOCK_URL: url, DOCK_API_KEY: apiKey } = env
  if (url) {
    const address = serviceAddress(url)
    if (apiKey) return { url: address, apiKey }
    const [name, profile] =
      Object.entries(configuration.profiles).find(([, each]) => each.url === address) ?? []
    if (name === undefined || !profile)
      throw new SignInFirst(
        `There is no key for ${address}. Set DOCK_API_KEY, or sign in: dock login ${address}`,
      )
    return ofProfile(name, profile)
  }
  const name = configuration.current ?? 'default'
  const profile = findProfile(configuration, name)
  if (!profile) throw new SignInFirst(apiKey ? 'DOCK_API_KEY is set, and DOCK_URL is not.' : howToSignIn)
  const connection = ofProfile(name, profile)
  // Inside a Dock and in scripts the key may come from elsewhere; the address is the profile's.
  return apiKey ? { url: connection.url, apiKey } : connection
}
