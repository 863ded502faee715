/**
 * Every way in which script/prove ssrf tries to lead a webhook astray. For each forbidden address: as the host of the
 * URL, as the only address of a name, beside a public address, and as the new address of a name that was public when
 * the endpoint was created. In addition, every URL that is refused by its text.
 */
import { isIP } from 'node:net'
import { forbiddenRanges } from '@dock/testkit/src/public-web/forbidden-addresses.ts'
import { refusedUrls } from '@dock/testkit/src/public-web/url-vectors.ts'

export const receiverAddresses = ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'] as const
export const domain = 'ssrf-proof.com'

export type SsrfVector = {
  kind: 'address in the URL' | 'only address' | 'beside a public address' | 'rebinding' | 'text of the URL'
  /** What it stands for, in a few words. */
  reason: string
  url: string
  /** Name that the URL contains, and its addresses at creation and after it. */
  name: string | undefined
  atCreation: readonly string[]
  later: readonly string[]
}

const hostFor = (address: string): string => (isIP(address) === 6 ? `[${address}]` : address)

const listAddressVectors = (address: string, reason: string, number: number): SsrfVector[] => {
  const named = (label: string) => {
    const name = `${label}${number}.${domain}`
    return { name, url: `https://${name}/hook`, reason: `${address}: ${reason}` }
  }
  const mixed = number % 2 === 0 ? [receiverAddresses[0], address] : [address, receiverAddresses[1]]
  return [
    {
      kind: 'address in the URL',
      reason: `${address}: ${reason}`,
      url: `https://${hostFor(address)}/hook`,
      name: undefined,
      atCreation: [],
      later: [],
    },
    { kind: 'only address', ...named('only'), atCreation: [address], later: [address] },
    { kind: 'beside a public address', ...named('beside'), atCreation: mixed, later: mixed },
    { kind: 'rebinding', ...named('rebinding'), atCreation: [receiverAddresses[0]], later: [address] },
  ]
}

export const ssrfVectors: readonly SsrfVector[] = [
  ...forbiddenRanges
    .flatMap(({ addresses }) => addresses)
    .flatMap(([address, reason], number) => listAddressVectors(address, reason, number)),
  ...refusedUrls.map(
    ([url, reason]): SsrfVector => ({
      kind: 'text of the URL',
      ...{ reason, url, name: undefined, atCreation: [], later: [] },
    }),
  ),
]
