/**
 * Generations of Docks, and the instance epoch that is encoded in them. A restored database continues to count from its
 * backup and would reuse generations. A restore therefore begins a new epoch, whose generations are all higher than those
 * assigned between the backup and the restore.
 */
const generationsPerEpoch = 1_000_000

/** Returns the instance epoch in which the generation was assigned. */
export function epochOf(generation: number): number {
  return Math.floor(generation / generationsPerEpoch)
}

/** Returns the generation of a Dock's next boot in this epoch. */
export function nextGeneration(generation: number, epoch: number): number {
  return Math.max(generation + 1, epoch * generationsPerEpoch)
}
