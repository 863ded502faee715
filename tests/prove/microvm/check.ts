/** Says whether something holds, and what was found. The proof fails if anything does not hold. */
export type Check = (what: string, holds: boolean, detail?: string) => void
