/**
 * The addresses of a host's Docks. Each instance has a /16. Its first address is the nameserver, and slot n (from 1) is
 * the n-th /30, with the gateway and the Dock.
 */
import { type Cidr, formatAddress, overlaps } from './ipv4.ts'

export type SlotAddresses = { gateway: string; ip: string }

/** The highest slot. The lowest is 1. */
export const slotMax = 2 ** 14 - 1

export function addressesOf(subnet: Cidr, slot: number): SlotAddresses {
  return {
    gateway: formatAddress(subnet.base + slot * 4 + 1),
    ip: formatAddress(subnet.base + slot * 4 + 2),
  }
}

export function nameserverOf(subnet: Cidr): string {
  return formatAddress(subnet.base + 1)
}

/**
 * Returns a /16 of 10.0.0.0/8, or else of 172.16.0.0/12, that does not overlap any range in `taken`. The search starts at
 * an offset that depends on `seed`, so that instances that start together choose different ones. Throws if none is free.
 */
export function chooseSubnet(seed: number, taken: readonly Cidr[]): Cidr {
  const candidates = [
    ...Array.from({ length: 256 }, (_, index) => ({
      base: (10 * 256 + ((seed + index) % 256)) * 65_536,
      bits: 16,
    })),
    ...Array.from({ length: 16 }, (_, index) => ({ base: (172 * 256 + 16 + index) * 65_536, bits: 16 })),
  ]
  const free = candidates.find((candidate) => !taken.some((range) => overlaps(candidate, range)))
  if (!free) throw new Error('routes of this machine cover every private /16 for Docks: remove one')
  return free
}
