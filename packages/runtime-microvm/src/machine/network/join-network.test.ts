/** Joins a tap to a namespace like those of Docks, and takes the part of the guest on the tap. Needs root. */
import { closeSync, readSync, writeSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { runCommand } from '@dock/foundation'
import {
  type DockNamespace,
  hostInterface,
  makeDockNamespace,
} from '@dock/testkit/src/runtime/dock-namespace.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTap } from '../system/system-calls.ts'
import { guestMac, joinTap, leaveNetwork, readGuestNetwork, tapName } from './join-network.ts'

/** Of the header that the kernel puts before each frame of such a tap. */
const tapHeaderBytes = 10

const ip = (...args: string[]) => runCommand('ip', args)

let namespace: DockNamespace
beforeEach(async () => {
  namespace = await makeDockNamespace()
})
afterEach(() => namespace.remove())

const bytesOf = (text: string, separator: string, base: number): Buffer =>
  Buffer.from(text.split(separator).map((each) => Number.parseInt(each, base)))

/** Asks on the tap who has the gateway's address, and returns the MAC address of the answer. */
const askForGateway = async (tap: number, mac: string): Promise<string> => {
  const own = bytesOf(mac, ':', 16)
  const frame = Buffer.concat([
    ...[Buffer.alloc(tapHeaderBytes), Buffer.alloc(6, 0xff), own],
    ...[Buffer.from('0806000108000604' + '0001', 'hex'), own, bytesOf(namespace.address, '.', 10)],
    ...[Buffer.alloc(6), bytesOf(namespace.gateway, '.', 10)],
  ])
  const buffer = Buffer.alloc(2048)
  for (let tries = 0; tries < 1000; tries += 1) {
    if (tries % 100 === 0) writeSync(tap, frame)
    let length = 0
    try {
      length = readSync(tap, buffer)
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('EAGAIN')
      await delay(5)
    }
    const found = buffer.subarray(tapHeaderBytes, length)
    const isAnswer = length > 0 && found.readUInt16BE(12) === 0x0806 && found.readUInt16BE(20) === 2
    if (isAnswer && found.subarray(32, 38).equals(own)) return found.subarray(22, 28).toString('hex')
  }
  throw new Error('no answer')
}

test('the guest has the address of the namespace, which has none any more', async () => {
  const { host, dock, netnsPath, address, gateway } = namespace
  const network = await readGuestNetwork(netnsPath)
  expect(network).toEqual({ address, gateway, mask: '255.255.255.252', mac: '02:d0:c0:00:02:02', mtu: 1400 })
  const tap = openTap(netnsPath, tapName)
  try {
    await joinTap(netnsPath, network.mtu)
    const hostMac = await runCommand('ip', [
      'netns',
      'exec',
      host,
      'cat',
      `/sys/class/net/${hostInterface}/address`,
    ])
    expect(await askForGateway(tap, network.mac)).toBe(hostMac.trim().replaceAll(':', ''))
    expect(await ip('-netns', dock, '-4', 'address', 'show')).not.toContain(address)
    // The host finds the guest under the same address, on the same interface.
    expect(await ip('-netns', host, 'neighbour')).toMatch(
      `${address} dev ${hostInterface} lladdr ${network.mac}`,
    )
  } finally {
    closeSync(tap)
  }
})

test('after the machine nothing is left in the namespace but its interface, which can be joined again', async () => {
  const { dock, netnsPath } = namespace
  for (let round = 0; round < 2; round += 1) {
    const tap = openTap(netnsPath, tapName)
    await joinTap(netnsPath, 1400)
    closeSync(tap)
    await leaveNetwork(netnsPath)
    const names = JSON.parse(await ip('-netns', dock, '-json', 'link')) as { ifname: string }[]
    expect(names.map(({ ifname }) => ifname).sort()).toEqual(['eth0', 'lo'])
  }
})

test('a namespace without an address is refused, and a namespace that is gone needs no clean-up', async () => {
  const { dock, netnsPath } = namespace
  await ip('-netns', dock, 'address', 'flush', 'dev', 'eth0')
  await expect(readGuestNetwork(netnsPath)).rejects.toThrow('has no address or gateway')
  await ip('netns', 'delete', dock)
  await leaveNetwork(netnsPath)
})

test('a tap in no namespace is in none of this machine', async () => {
  const before = await ip('-json', 'link')
  const tap = openTap(null, tapName)
  expect(await ip('-json', 'link')).toBe(before)
  closeSync(tap)
})

test('the MAC address follows from the address', () => {
  expect(guestMac('10.9.255.1')).toBe('02:d0:0a:09:ff:01')
})
