/** Prints and counts what holds. */
export type Check = (name: string, isGood: boolean, detail: string) => void
