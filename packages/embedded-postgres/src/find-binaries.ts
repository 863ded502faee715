/** Finds the PostgreSQL programs that the distribution's package installed. */
import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readOwnFile } from '@dock/foundation'

/** The oldest PostgreSQL major version that Dock supports. */
export const oldestMajor = 15

const packagesFolder = '/usr/lib/postgresql'

const majorOfCluster = async (dataDir: string): Promise<number | undefined> => {
  const text = await readOwnFile(join(dataDir, 'PG_VERSION'), undefined).catch(() => undefined)
  return text === undefined ? undefined : Number.parseInt(text, 10)
}

/**
 * Returns the folder of `postgres` and `initdb`. If `dataDir` holds a cluster, its major version is required; otherwise
 * the newest installed version is used. Throws, naming the package to install, if there is no match.
 */
export async function findPostgresBinaries(dataDir: string, folder = packagesFolder): Promise<string> {
  const entries = await readdir(folder).catch(() => [])
  const majors = entries
    .map(Number)
    .filter((major) => Number.isInteger(major) && major >= oldestMajor)
    .sort((a, b) => b - a)
  const wanted = await majorOfCluster(dataDir)
  for (const major of wanted === undefined ? majors : majors.filter((found) => found === wanted)) {
    const binaries = join(folder, String(major), 'bin')
    const complete = await Promise.all(
      ['postgres', 'initdb'].map((name) => access(join(binaries, name))),
    ).catch(() => undefined)
    if (complete) return binaries
  }
  throw new Error(
    wanted === undefined
      ? `PostgreSQL ${oldestMajor} or newer is not installed (looked in ${folder}). Install it with: apt-get install postgresql, or set DATABASE_URL to a server.`
      : `The database in ${dataDir} was created by PostgreSQL ${wanted}, which is not installed (looked in ${folder}). Install it with: apt-get install postgresql-${wanted}.`,
  )
}
