/**
 * Maps what comes piece by piece. Unlike a generator's, its `return` reaches the source also before anything was asked
 * for: a list that nobody reads leaves nothing open.
 */
export function mapAsync<From, To>(source: AsyncIterable<From>, map: (item: From) => To): AsyncIterable<To> {
  return {
    [Symbol.asyncIterator]: () => {
      const items = source[Symbol.asyncIterator]()
      return {
        next: async () => {
          const { done, value } = await items.next()
          return done ? { done: true, value: undefined } : { done: false, value: map(value) }
        },
        return: async () => {
          await items.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
