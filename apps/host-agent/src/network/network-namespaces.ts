/**
 * Manages network namespaces and their veth pairs with `ip`. The owner is stored in the kernel: the alias of the host's
 * interface is the Dock's id. No file is needed that could contradict the kernel.
 */
import { lstat, readdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand, tryCommand } from '@dock/foundation'
import type { SlotAddresses } from './addressing.ts'
import { ignoreForeignArp } from './kernel-settings.ts'

const namespacesFolder = '/run/netns'
/** Alias of a complete namespace without an owner. It is set last, so a namespace without an alias is incomplete. */
const spareAlias = 'spare'
/** Alias of a namespace in which a sandbox waits for its Dock. The next agent removes it with that sandbox. */
const reservedAlias = 'reserved'

/** `owner`: a Dock's id, `spare`, `reserved`, or null if the namespace is incomplete or gone. */
export type FoundNamespace = { slot: number; owner: string | null }

export function isSpare({ owner }: FoundNamespace): boolean {
  return owner === spareAlias
}

const batch = async (commands: readonly string[], before: readonly string[] = []): Promise<void> => {
  await runCommand('ip', [...before, '-batch', '-'], { input: `${commands.join('\n')}\n`, timeoutMs: 20_000 })
}

/** Manages the namespaces whose names and host interfaces start with `prefix` (at most 11 characters). */
export function createNetworkNamespaces(prefix: string) {
  const nameOf = (slot: number): string => `${prefix}${slot.toString(16)}`
  const slotOf = (name: string): number | undefined => {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : ''
    return /^[0-9a-f]{1,4}$/.test(rest) ? Number.parseInt(rest, 16) : undefined
  }
  const pathOf = (slot: number): string => join(namespacesFolder, nameOf(slot))

  /** True if a namespace is mounted at the path, rather than an empty file left by an earlier mount. */
  const isMounted = async (slot: number): Promise<boolean> => {
    const [file, folder] = await Promise.all([
      lstat(pathOf(slot)).catch(() => undefined),
      lstat(namespacesFolder).catch(() => undefined),
    ])
    return file !== undefined && folder !== undefined && file.dev !== folder.dev
  }

  const address = async (slot: number, { ip, gateway }: SlotAddresses): Promise<void> =>
    batch(
      [
        'link set dev lo up',
        'link set dev eth0 addrgenmode none',
        'link set dev eth0 up',
        `addr replace ${ip}/30 dev eth0`,
        `route replace default via ${gateway} dev eth0`,
      ],
      ['-netns', nameOf(slot)],
    )

  /** Sets the alias of the host's interface without a program, except in a container whose /sys is read-only. */
  const setAlias = async (slot: number, alias: string): Promise<void> => {
    const name = nameOf(slot)
    await writeFile(`/sys/class/net/${name}/ifalias`, alias).catch(() =>
      runCommand('ip', ['link', 'set', 'dev', name, 'alias', alias]),
    )
  }

  const remove = async (slots: readonly number[]): Promise<void> => {
    if (slots.length === 0) return
    const names = slots.map(nameOf)
    // Missing parts cause errors that do not matter. The check below finds what is left.
    await tryCommand('ip', ['-force', '-batch', '-'], {
      input: names.map((name) => `link delete dev ${name}\nnetns delete ${name}\n`).join(''),
      timeoutMs: 60_000,
    })
    for (const slot of slots) {
      if (!(await isMounted(slot))) await unlink(pathOf(slot)).catch(() => undefined)
    }
    const left = (await find()).filter(({ slot }) => slots.includes(slot))
    if (left.length > 0)
      throw new Error(`could not remove the network of slot ${left.map(({ slot }) => slot).join(', ')}`)
  }

  const find = async (): Promise<FoundNamespace[]> => {
    const text = await runCommand('ip', ['-json', 'link', 'show', 'type', 'veth'])
    const links = JSON.parse(text.trim() || '[]') as { ifname: string; ifalias?: string }[]
    const owners = new Map<number, string | null>()
    for (const { ifname, ifalias } of links) {
      const slot = slotOf(ifname)
      if (slot !== undefined) owners.set(slot, (await isMounted(slot)) ? (ifalias ?? null) : null)
    }
    for (const name of await readdir(namespacesFolder).catch(() => [])) {
      const slot = slotOf(name)
      if (slot !== undefined && !owners.has(slot)) owners.set(slot, null)
    }
    return [...owners].map(([slot, owner]) => ({ slot, owner }))
  }

  return {
    pathOf,
    find,
    remove,
    /** Makes the namespace of an earlier release as those of {@link make}. */
    renew: async (slot: number): Promise<void> => ignoreForeignArp(nameOf(slot)),
    /** Sets the addresses and routes inside the namespace, or restores them. */
    address,
    /** Creates a spare namespace. If that fails, nothing is left. */
    make: async (slot: number, addresses: SlotAddresses, mtu: number): Promise<void> => {
      const name = nameOf(slot)
      try {
        await batch([
          `netns add ${name}`,
          `link add name ${name} mtu ${mtu} type veth peer name eth0 mtu ${mtu} netns ${name}`,
          `link set dev ${name} addrgenmode none`,
          `addr add ${addresses.gateway}/30 dev ${name}`,
          `link set dev ${name} up`,
        ])
        await Promise.all([address(slot, addresses), ignoreForeignArp(name)])
        await setAlias(slot, spareAlias)
      } catch (error) {
        await remove([slot]).catch(() => undefined)
        throw error
      }
    },
    /** Returns the Dock's received and sent bytes. The host's end of the pair counts them the other way round. */
    traffic: async (slot: number): Promise<{ rxBytes: number; txBytes: number }> => {
      const counted = (name: string) =>
        readFile(`/sys/class/net/${nameOf(slot)}/statistics/${name}`, 'utf8').then(Number)
      const [rxBytes, txBytes] = await Promise.all([counted('tx_bytes'), counted('rx_bytes')])
      return { rxBytes, txBytes }
    },
    /** Assigns a spare namespace to a Dock. */
    claim: setAlias,
    reserve: (slot: number) => setAlias(slot, reservedAlias),
    /** Makes a reserved namespace a spare one again. */
    free: (slot: number) => setAlias(slot, spareAlias),
  }
}

export type NetworkNamespaces = ReturnType<typeof createNetworkNamespaces>
