/** The two ways to back up and restore the database. */
import { execFile } from 'node:child_process'
import { access, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Server } from '../../e2e/support/server.ts'

const runFile = promisify(execFile)

export type Backup = {
  name: string
  /** Takes the backup. Returns the server that runs afterwards. */
  take(server: Server, again: () => Promise<Server>): Promise<Server>
  /** Restores the backup on a stopped instance. */
  restore(dataDir: string): Promise<void>
  /** True if Dock runs during the backup, so that operations may be running. */
  isLive: boolean
  /** True if objects from the lost time still exist after the restore. */
  keepsObjects: boolean
}

const copied = async (from: string, to: string): Promise<void> => {
  await rm(to, { recursive: true, force: true })
  await runFile('cp', ['-a', '--sparse=always', from, to])
}

export function backups(folder: string): Backup[] {
  return [
    {
      name: 'a copy of the control folder while Dock is stopped',
      take: async (server, again) => {
        await server.interrupt()
        await copied(join(server.dataDir, 'control'), join(folder, 'control'))
        return again()
      },
      restore: (dataDir) => copied(join(folder, 'control'), join(dataDir, 'control')),
      isLive: false,
      keepsObjects: false,
    },
    {
      name: 'a base backup of the running database',
      take: async (server) => {
        const socket = join(folder, 's')
        await runFile('ln', ['-sfn', join(server.dataDir, 'control/run'), socket])
        const program = await pgBaseBackup()
        await runFile(program, [
          '-h',
          socket,
          '-U',
          'dock',
          '-D',
          join(folder, 'pg'),
          '-X',
          'stream',
          '-c',
          'fast',
        ])
        return server
      },
      restore: async (dataDir) => {
        const place = await databaseFolder(dataDir)
        const { stdout } = await runFile('stat', ['-c', '%U:%G', place])
        await copied(join(folder, 'pg'), place)
        await runFile('chown', ['-R', stdout.trim(), place])
        await runFile('chmod', ['0700', place])
      },
      isLive: true,
      keepsObjects: true,
    },
  ]
}

const pgBaseBackup = async (): Promise<string> => {
  for (const version of (await readdir('/usr/lib/postgresql')).sort().reverse()) {
    const program = `/usr/lib/postgresql/${version}/bin/pg_basebackup`
    if (
      await access(program).then(
        () => true,
        () => false,
      )
    )
      return program
  }
  throw new Error('found no pg_basebackup')
}

const databaseFolder = async (dataDir: string): Promise<string> => {
  for (const name of await readdir(join(dataDir, 'control'))) {
    const place = join(dataDir, 'control', name)
    if (
      await access(join(place, 'PG_VERSION')).then(
        () => true,
        () => false,
      )
    )
      return place
  }
  throw new Error('found no database folder')
}
