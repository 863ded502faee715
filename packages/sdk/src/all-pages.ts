/** Reads all pages of a list. `read` returns the items of one page and the cursor of the next. */
export async function allPages<T>(
  read: (cursor: string | undefined) => Promise<{ items: T[]; nextCursor: string | null }>,
): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await read(cursor)
    all.push(...items)
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
  return all
}
