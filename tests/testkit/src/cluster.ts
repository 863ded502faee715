/** Names shared by the global setup and the test files. */
export const templateDatabase = 'dock_template'

/** Returns the URL of another database in the same cluster. */
export function databaseUrl(clusterUrl: string, database: string): string {
  return clusterUrl.replace('/postgres?', `/${database}?`)
}

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
  }
}
