/**
 * The Docks' networks on this host: a network namespace for each Dock, NAT to the outside, everything else closed. A few
 * spare namespaces are kept ready, so that giving a Dock a network only means setting an alias.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createSerial, isUuid, type Logger, runCommand, tryCommand, writeFileDurably } from '@dock/foundation'
import * as z from 'zod'
import { addressesOf, chooseSubnet, nameserverOf, slotMax } from './addressing.ts'
import { defaultNetworkLimits, filterRules, interfaceFamily, type NetworkLimits } from './filter-rules.ts'
import { guardRules, type RuleGuard } from './guard-rules.ts'
import { readHostRoutes, readOwnSubnet } from './host-routes.ts'
import { type Cidr, formatCidr, overlaps, parseCidr } from './ipv4.ts'
import { enableForwarding, giveFragmentsRoom } from './kernel-settings.ts'
import { type NameForwarder, startNameForwarder } from './name-forwarder.ts'
import { createNetworkNamespaces, isSpare } from './network-namespaces.ts'
import type { DockNetwork, Networks } from './networks.ts'

export type NetworksOptions = {
  /** Distinguishes this agent from others on the machine, for example the path of its host folder. */
  instance: string
  /** File that stores the chosen subnet for the next start. An operator may write it before the first start. */
  subnetFile: string
  logger: Logger
  /** Private ranges that Docks may reach. Only tests open some. */
  allowedEgress?: readonly Cidr[]
  limits?: NetworkLimits
  /** How many spare namespaces are kept ready. */
  spares?: number
}

/** How long after a create the next spares are made: meanwhile somebody waits for the boot of the Dock. */
const refillAfterMs = 250

const subnetRecord = z.object({ instance: z.string(), subnet: z.string() })

/** An unreadable file must not end the agent: the supervisor would restart it again and again. */
const parseSubnetRecord = (text: string, instance: string): Cidr | undefined => {
  try {
    const record = subnetRecord.parse(JSON.parse(text))
    const subnet = record.instance === instance ? parseCidr(record.subnet) : undefined
    return subnet?.bits === 16 ? subnet : undefined
  } catch {
    return undefined
  }
}

/** Returns the five hex digits that are part of the names of everything the instance creates on the machine. */
export function instanceTag(instance: string): string {
  return createHash('sha256').update(instance).digest('hex').slice(0, 5)
}

/** Requires root. `setUp` must be called first. It takes over the networks of an earlier agent. */
export function createNetworks(options: NetworksOptions): Networks {
  const {
    instance,
    logger,
    subnetFile,
    spares = 4,
    allowedEgress = [],
    limits = defaultNetworkLimits,
  } = options
  const tag = instanceTag(instance)
  const prefix = `${interfaceFamily}${tag}-`
  const table = `dock_${tag}`
  const namespaces = createNetworkNamespaces(prefix)
  const inTurn = createSerial()

  const slots = new Map<string, number>()
  const ready: number[] = []
  /** Slots in which a sandbox waits for its Dock, by path of the namespace. */
  const reserved = new Map<string, number>()
  /** Slots that are in use, being created or being removed. */
  const held = new Set<number>()
  let lastSlot = 0
  let mtu = 1500
  let state: { subnet: Cidr; names: NameForwarder; rules: RuleGuard } | undefined
  let refill: Promise<void> | undefined

  const started = () => {
    if (!state) throw new Error('the networks are not set up')
    return state
  }

  const networkOf = (slot: number): DockNetwork => {
    const { subnet } = started()
    const { gateway, ip } = addressesOf(subnet, slot)
    return { netnsPath: namespaces.pathOf(slot), ip, gateway, nameserver: nameserverOf(subnet) }
  }

  /** Takes slots in a cycle, so that an address is not reused soon after its Dock is gone. */
  const takeSlot = (): number => {
    for (let step = 0; step < slotMax; step += 1) {
      lastSlot = (lastSlot % slotMax) + 1
      if (held.has(lastSlot)) continue
      held.add(lastSlot)
      return lastSlot
    }
    throw new Error('no address is left for another Dock')
  }

  const makeSpare = async (): Promise<number> => {
    const slot = takeSlot()
    try {
      await namespaces.make(slot, addressesOf(started().subnet, slot), mtu)
      return slot
    } catch (error) {
      held.delete(slot)
      throw error
    }
  }

  const fill = async (): Promise<void> => {
    try {
      while (state && ready.length < spares) ready.push(await makeSpare())
    } catch (error) {
      logger.warn({ err: error }, 'could not create a spare network')
    } finally {
      refill = undefined
    }
  }

  const takeReserved = (netnsPath: string | undefined): number | undefined => {
    const slot = reserved.get(netnsPath ?? '')
    reserved.delete(netnsPath ?? '')
    return slot
  }

  const removeSlot = async (slot: number): Promise<void> => {
    await namespaces.remove([slot])
    held.delete(slot)
  }

  /** Removes the slot if the change of its owner fails. */
  const orRemove = async (slot: number, change: Promise<void>): Promise<void> => {
    try {
      await change
    } catch (error) {
      await removeSlot(slot).catch(() => undefined)
      throw error
    }
  }

  /** Returns the subnet in the file, or undefined if there is none that this instance can use. */
  const readSubnetFile = async (): Promise<Cidr | undefined> => {
    const text = await readFile(subnetFile, 'utf8').catch(() => undefined)
    if (text === undefined) return undefined
    const known = parseSubnetRecord(text, instance)
    if (!known)
      logger.warn(
        { subnetFile, instance },
        'ignoring the file of the subnet: it must be JSON with this instance and a "subnet" such as 10.9.0.0/16',
      )
    return known
  }

  /** Returns the previous subnet if Docks use it or it is still free, or a new one. */
  const settleSubnet = async (hasDocks: boolean): Promise<Cidr> => {
    const known = (await readSubnetFile()) ?? (hasDocks ? await readOwnSubnet(prefix) : undefined)
    const kept = known && formatCidr(known)
    const routes = await readHostRoutes(prefix, kept)
    mtu = routes.mtu
    const taken = [...routes.taken, ...allowedEgress]
    const isUsable = known && (hasDocks || !taken.some((range) => overlaps(known, range)))
    if (kept && !isUsable) {
      logger.warn({ subnetFile, subnet: kept }, 'another network overlaps the subnet; choosing another one')
      await tryCommand('ip', ['route', 'delete', 'blackhole', kept])
    }
    const subnet = isUsable ? known : chooseSubnet(Number.parseInt(tag, 16), taken)
    await writeFileDurably(subnetFile, JSON.stringify({ instance, subnet: formatCidr(subnet) }))
    return subnet
  }

  const adopt = async (): Promise<void> => {
    const found = await namespaces.find()
    const lost = found.filter((each) => each.owner === null || !(isSpare(each) || isUuid(each.owner)))
    await namespaces.remove(lost.map(({ slot }) => slot))
    for (const each of found) {
      if (lost.includes(each)) continue
      await namespaces.renew(each.slot)
      held.add(each.slot)
      lastSlot = Math.max(lastSlot, each.slot)
      if (isSpare(each)) ready.push(each.slot)
      else if (each.owner !== null) slots.set(each.owner, each.slot)
    }
  }

  return {
    setUp: async () => {
      if (state) return
      await adopt()
      const subnet = await settleSubnet(slots.size > 0)
      if (slots.size === 0) {
        // Spare namespaces may have addresses of another subnet.
        await namespaces.remove(ready)
        for (const slot of ready.splice(0)) held.delete(slot)
      }
      await enableForwarding()
      await giveFragmentsRoom()
      const nameserver = nameserverOf(subnet)
      const { neighbours } = await readHostRoutes(prefix, formatCidr(subnet))
      const wanted = {
        table,
        interfacePrefix: prefix,
        subnet,
        nameserver,
        neighbours,
        allowed: allowedEgress,
      }
      const rules = await guardRules({ table, rules: filterRules({ ...wanted, limits }), logger })
      // This route shows other agents that the range is taken, and drops packets to Docks that are gone.
      await runCommand('ip', ['route', 'replace', 'blackhole', formatCidr(subnet)])
      await runCommand('ip', ['address', 'replace', `${nameserver}/32`, 'dev', 'lo'])
      state = { subnet, rules, names: await startNameForwarder({ address: nameserver, logger }) }
      logger.info({ subnet: formatCidr(subnet), table, docks: slots.size }, 'networks')
      refill = fill()
    },

    create: (dockId, netnsPath) =>
      inTurn(dockId, async () => {
        started()
        const known = slots.get(dockId)
        if (known !== undefined) return networkOf(known)
        const slot = takeReserved(netnsPath) ?? ready.shift() ?? (await makeSpare())
        refill ??= delay(refillAfterMs).then(fill)
        await orRemove(slot, namespaces.claim(slot, dockId))
        slots.set(dockId, slot)
        return networkOf(slot)
      }),

    reserve: async () => {
      started()
      const slot = ready.shift() ?? (await makeSpare())
      refill ??= fill()
      await orRemove(slot, namespaces.reserve(slot))
      reserved.set(namespaces.pathOf(slot), slot)
      return namespaces.pathOf(slot)
    },

    release: async (netnsPath) => {
      const slot = takeReserved(netnsPath)
      if (slot === undefined) return
      await orRemove(slot, namespaces.free(slot))
      ready.push(slot)
    },

    destroy: (dockId) =>
      inTurn(dockId, async () => {
        const slot = slots.get(dockId)
        if (slot === undefined) return
        await removeSlot(slot)
        slots.delete(dockId)
      }),

    restore: (dockId) =>
      inTurn(dockId, async () => {
        const slot = slots.get(dockId)
        if (slot === undefined) throw new Error(`Dock ${dockId} has no network`)
        await namespaces.address(slot, addressesOf(started().subnet, slot))
        return networkOf(slot)
      }),

    find: (dockId) => {
      const slot = slots.get(dockId)
      return slot === undefined ? null : networkOf(slot)
    },

    traffic: async (dockId) => {
      const slot = slots.get(dockId)
      if (slot === undefined) throw new Error(`Dock ${dockId} has no network`)
      return namespaces.traffic(slot)
    },

    list: async () => [...slots.keys()],

    tearDown: async () => {
      if (!state) return
      const { subnet, names, rules } = state
      state = undefined
      await rules.close()
      await refill
      const unused = [...ready.splice(0), ...reserved.values()]
      reserved.clear()
      await namespaces.remove(unused)
      for (const slot of unused) held.delete(slot)
      await names.close()
      await tryCommand('ip', ['address', 'delete', `${nameserverOf(subnet)}/32`, 'dev', 'lo'])
      await tryCommand('ip', ['route', 'delete', 'blackhole', formatCidr(subnet)])
      await tryCommand('nft', ['delete', 'table', 'inet', table])
    },
  }
}
