/** Names that the global setup and the test files agree on. */
export const templateDatabase = 'dock_template'

/** The address of another database of the same cluster. */
export function databaseUrl(clusterUrl: string, database: string): string {
  return clusterUrl.replace('/postgres?', `/${database}?`)
}

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
  }
}
