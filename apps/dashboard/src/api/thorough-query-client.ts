import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient } from '@tanstack/react-query'

/**
 * TanStack Query does not begin a query's first read again, so what is invalidated during that read would stay old. Here
 * another read follows it.
 */
export class ThoroughQueryClient extends QueryClient {
  override async invalidateQueries(
    filters?: InvalidateQueryFilters,
    options?: InvalidateOptions,
  ): Promise<void> {
    const again = this.getQueryCache()
      .findAll(filters)
      .filter(({ state }) => state.data === undefined && state.fetchStatus !== 'idle')
      .map(async ({ promise, queryKey }) => {
        await promise?.catch(() => undefined)
        await super.invalidateQueries({ queryKey, exact: true }, options)
      })
    await Promise.all([super.invalidateQueries(filters, options), ...again])
  }
}
