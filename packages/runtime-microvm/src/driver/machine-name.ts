/** The id of a Dock's machine on this host. It contains Dock and generation, so leftovers are found without a handle. */

const pattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d+)$/

export function machineName(dockId: string, generation: number): string {
  return `${dockId}-${generation}`
}

/** Returns null for a machine that belongs to no Dock, as those that templates are made of. */
export function parseMachineName(name: string): { dockId: string; generation: number } | null {
  const [, dockId, generation] = pattern.exec(name) ?? []
  return dockId === undefined ? null : { dockId, generation: Number(generation) }
}
