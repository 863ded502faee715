/** A list that is read page by page, newest first. `nextCursor` is null at its end. */
type Entry = { id: string; createdAt: string }
export type PageOf<Item> = { docks: Item[]; nextCursor: string | null }

/** True if the service lists `one` before `other`. */
const isBefore = (one: Entry, other: Entry): boolean =>
  one.createdAt === other.createdAt ? one.id > other.id : one.createdAt > other.createdAt

/**
 * Returns the pages with what `found` says of the entries `ids`: those that are not found leave the list, and new ones take
 * their place in it. New ones after the last page that was read are left out, because that page's successor has them.
 */
export function patchPages<Item extends Entry, Page extends PageOf<Item>>(
  pages: readonly Page[],
  ids: ReadonlySet<string>,
  found: readonly Item[],
): Page[] {
  const now = new Map(found.map((item) => [item.id, item]))
  const patched = pages.map((page) => ({
    ...page,
    docks: page.docks.flatMap((item) => {
      if (!ids.has(item.id)) return [item]
      const changed = now.get(item.id)
      now.delete(item.id)
      return changed ? [changed] : []
    }),
  }))
  for (const item of now.values()) {
    const page =
      patched.find(({ docks }) => docks.length > 0 && isBefore(item, docks.at(-1)!)) ??
      patched.findLast(({ nextCursor }) => nextCursor === null)
    if (!page) continue
    const at = page.docks.findIndex((other) => isBefore(item, other))
    page.docks.splice(at === -1 ? page.docks.length : at, 0, item)
  }
  return patched
}
