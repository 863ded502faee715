/** A temporary PostgreSQL cluster for a test run, with a migrated template database that test files clone. */
import { chmod, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { migrate } from '@dock/control-plane/migrate'
import { startPostgres } from '@dock/embedded-postgres'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { databaseUrl, templateDatabase } from './cluster.ts'
import { makeClusterFolder } from './cluster-folder.ts'
import { makeRunFolder } from './run-folder.ts'

/** Starts the cluster and provides its URL to the test files. Returns a function that stops it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeRunFolder = await makeRunFolder()
  const folder = await makeClusterFolder()
  // PostgreSQL runs as another user, who needs access to the subfolders.
  await chmod(folder, 0o755)
  const postgres = await startPostgres({
    dataDir: join(folder, 'pg'),
    socketDir: join(folder, 'run'),
    logPath: join(folder, 'postgres.log'),
    fsync: false,
    // Nothing replicates this cluster, so its log need not hold what is copied.
    settings: ['wal_level=minimal', 'max_wal_senders=0'],
  })
  const stop = async (): Promise<void> => {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
    await removeRunFolder()
  }
  try {
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    await client.query(`create database ${templateDatabase}`)
    await client.end()
    await migrate(databaseUrl(postgres.url, templateDatabase))
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('postgresUrl', postgres.url)
  return stop
}
