/**
 * Generations, and the epoch of the instance that they carry. After a restore the database counts from where it was at
 * its backup, so a new epoch begins: its generations are higher than any that was given out in the lost time.
 */
const generationsPerEpoch = 1_000_000

/** The instance epoch in which the generation was given out. */
export function epochOf(generation: number): number {
  return Math.floor(generation / generationsPerEpoch)
}

/** The generation of a Dock's next boot in this epoch. */
export function nextGeneration(generation: number, epoch: number): number {
  return Math.max(generation + 1, epoch * generationsPerEpoch)
}
