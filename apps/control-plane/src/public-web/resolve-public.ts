/**
 * Resolves the host of a URL once and checks every address. The caller must connect to these addresses and not resolve
 * again, because a name may have other addresses a moment later.
 *
 * Asks the name servers of /etc/resolv.conf through c-ares. `dns.lookup` would run on libuv's four threads, where a few
 * names without a response hold up every file that the process reads. The price: /etc/hosts is not read, and search
 * domains are not tried. Neither belongs to a public name.
 */
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { DeadlineExceeded, runWithDeadline } from './deadline.ts'
import type { OwnHosts } from './own-hosts.ts'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'
import type { PublicUrl } from './public-url.ts'

/** Resolves with all addresses of a name, or rejects. */
export type AddressResolver = (name: string, signal: AbortSignal) => Promise<readonly string[]>

export type Resolution =
  | { addresses: readonly string[]; error: null }
  | { error: 'dns_failed' | 'address_not_public'; reason: string }

export type ResolveOptions = {
  deadlineMs?: number
  /** If it aborts, the call rejects with its reason. */
  signal?: AbortSignal | undefined
  resolver?: AddressResolver | undefined
  /** What the operator allows besides the public internet. */
  own?: OwnHosts | undefined
}

const resolveMs = 5_000
const answersMax = 32
const queryMs = 2_000
const queryTries = 2

const noSuchRecord = new Set(['ENODATA', 'ENOTFOUND'])

const emptyIfNone = async (query: Promise<string[]>): Promise<string[]> => {
  try {
    return await query
  } catch (error) {
    if (noSuchRecord.has((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

/** Asks for A and AAAA. A new resolver for each call reads the current /etc/resolv.conf and can be cancelled alone. */
const queryAddresses: AddressResolver = async (name, signal) => {
  const resolver = new Resolver({ timeout: queryMs, tries: queryTries })
  signal.addEventListener('abort', () => resolver.cancel(), { once: true })
  const [ipv4, ipv6] = await Promise.all([
    emptyIfNone(resolver.resolve4(name)),
    emptyIfNone(resolver.resolve6(name)),
  ])
  return [...ipv4, ...ipv6]
}

/** Loopback names never reach a name server (RFC 6761). */
const loopbackAddresses: AddressResolver = async () => ['127.0.0.1', '::1']

const findAddresses = async (
  { host, reach }: PublicUrl,
  { deadlineMs = resolveMs, signal, resolver }: ResolveOptions,
): Promise<readonly string[]> => {
  if (isIP(host) !== 0) return [host]
  const resolve = resolver ?? (reach === 'loopback' ? loopbackAddresses : queryAddresses)
  return runWithDeadline(deadlineMs, signal, (bound) => resolve(host, bound))
}

const failed = (reason: string): Resolution => ({ error: 'dns_failed', reason })

/**
 * Resolves with the addresses of the URL's host if all of them lie where the URL may reach. The reason of a refusal
 * names no address, because it is shown to tenants, and a name may have an address of the operator's own network.
 */
export async function resolvePublic(target: PublicUrl, options: ResolveOptions = {}): Promise<Resolution> {
  let addresses: readonly string[]
  try {
    addresses = await findAddresses(target, options)
  } catch (error) {
    if (options.signal?.aborted) throw error
    return failed(
      error instanceof DeadlineExceeded
        ? 'The name servers did not tell the addresses of the host in time.'
        : 'The name servers could not tell the addresses of the host.',
    )
  }
  if (addresses.length === 0) return failed('The host has no address.')
  if (addresses.length > answersMax) return failed(`The host has more than ${answersMax} addresses.`)
  const isAllowed = (address: string): boolean =>
    target.reach === 'loopback'
      ? isLoopbackAddress(address)
      : isPublicAddress(address) || options.own?.allows(address, target.isNamed) === true
  if (addresses.every(isAllowed)) return { addresses, error: null }
  return {
    error: 'address_not_public',
    reason: 'The host has an address that is not public on the internet.',
  }
}
