/** Finds one item of a list by its id or by a name. */
import { cleanText } from '../output/clean-text.ts'
import { suggestion } from '../program/closest-name.ts'
import { notFound, UsageError } from '../program/failures.ts'

const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns true if the text is a whole id. */
export function isId(text: string): boolean {
  return idPattern.test(text)
}

export type Named = { id: string }

/**
 * Returns the item with this id, name, or beginning of an id of at least six letters. `kind` is what the item is, for
 * messages. Throws if there is none, with the name that is most like it, or if there are several.
 */
export function pick<T extends Named>(
  kind: string,
  items: readonly T[],
  text: string,
  namesOf: (item: T) => readonly (string | null)[],
): T {
  const byId = items.find(({ id }) => id === text.toLowerCase())
  if (byId) return byId
  const named = items.filter((item) => namesOf(item).includes(text))
  const found =
    named.length > 0 || !/^[0-9a-f-]{6,}$/i.test(text)
      ? named
      : items.filter(({ id }) => id.startsWith(text.toLowerCase()))
  const [first, ...others] = found
  if (first && others.length === 0) return first
  if (first) {
    const ids = found.slice(0, 10).map((item) => item.id)
    throw new UsageError(
      `Several ${kind}s have the name ${JSON.stringify(cleanText(text))}. Write an id: ${ids.join(', ')}.`,
    )
  }
  const names = items.flatMap(namesOf).filter((name): name is string => name !== null)
  throw notFound(`There is no ${kind} ${JSON.stringify(cleanText(text))}.${suggestion(text, names)}`)
}
