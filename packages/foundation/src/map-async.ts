/**
 * Maps an async iterable item by item. Unlike a generator, its `return` closes the source even before the first `next`,
 * so an iterable that nobody reads leaks nothing.
 */
export function mapAsync<From, To>(
  source: AsyncIterable<From>,
  map: (item: From) => To | Promise<To>,
): AsyncIterable<To> {
  return {
    [Symbol.asyncIterator]: () => {
      const items = source[Symbol.asyncIterator]()
      return {
        next: async () => {
          const { done, value } = await items.next()
          return done ? { done: true, value: undefined } : { done: false, value: await map(value) }
        },
        return: async () => {
          await items.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
