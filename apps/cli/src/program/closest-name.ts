/** Finds the name that the user probably meant by a misspelled one. */

/** Returns the number of letters to insert, remove, replace or swap. */
const distanceOf = (one: string, other: string): number => {
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      let best = Math.min(last[column - 1]! + (isSame ? 0 : 1), last[column]! + 1, next[column - 1]! + 1)
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1])
        best = Math.min(best, before[column - 2]! + 1)
      next.push(best)
    }
    before = last
    last = next
  }
  return last[other.length]!
}

/** Returns the name that is most like `text`, or undefined if none is like it. */
export function closestName(text: string, names: readonly string[]): string | undefined {
  const wanted = text.slice(0, 100).toLowerCase()
  const allowed = wanted.length <= 3 ? 1 : Math.min(3, Math.ceil(wanted.length / 3))
  let [closest, least] = [undefined as string | undefined, allowed + 1]
  for (const name of names) {
    if (Math.abs(name.length - wanted.length) > allowed) continue
    const distance = distanceOf(wanted, name.toLowerCase())
    if (distance < least) [closest, least] = [name, distance]
  }
  return closest
}

/** Returns ` Did you mean "web"?`, or an empty text. */
export function suggestion(text: string, names: readonly string[]): string {
  const closest = closestName(text, names)
  return closest === undefined ? '' : ` Did you mean ${JSON.stringify(closest)}?`
}
