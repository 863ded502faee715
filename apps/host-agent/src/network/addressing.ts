/**
 * Which addresses a host's Docks have. One /16 an instance: its first address serves names, and slot n (from 1) is
 * the n-th /30 with gateway and Dock in it.
 */
import { type Cidr, formatAddress, overlaps } from './ipv4.ts'

export type SlotAddresses = { gateway: string; ip: string }

/** Slots are 1 to this. */
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
 * A /16 of 10.0.0.0/8 (then 172.16.0.0/12) that touches nothing in `taken`. The search starts at a place that
 * depends on `seed`, so that instances started together do not all want the same. Throws when nothing is free.
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
  if (!free) throw new Error('every private /16 is in use on this machine: set a subnet for the Docks')
  return free
}
