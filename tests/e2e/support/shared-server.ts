/** Starts one server for all files of the project `e2e`, and stops it with SIGINT after the last file. */
import { readFile, rm } from 'node:fs/promises'
import { freePort } from '@dock/testkit/src/free-port.ts'
import type { TestProject } from 'vitest/node'
import { prepareGitProvider } from './git-provider.ts'
import { type Admin, newDataDir, removeDataDir, startServer } from './server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    sharedServer: { dataDir: string; admin: Admin; logFile: string; pid: number; gitTlsFolder: string }
  }
}

const mountsBelow = async (folder: string): Promise<string[]> =>
  (await readFile('/proc/mounts', 'utf8')).split('\n').filter((line) => line.includes(folder))

/** Provides the server to the test files. Returns a function that stops it and throws if the stop was not clean. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const provider = await prepareGitProvider()
  const server = await startServer(await newDataDir(), await freePort(), {
    ...provider.settings,
    DOCK_ALLOW_INSECURE_WEBHOOKS: 'loopback',
    DOCK_SSH_PORT: String(await freePort()),
    // Chosen by the server, as at a first start.
    DEFAULT_IMAGE: process.env.DEFAULT_IMAGE,
  })
  const { dataDir, admin, pid } = server
  project.provide('sharedServer', {
    ...{ dataDir, admin, pid, logFile: server.logFile },
    gitTlsFolder: provider.folder,
  })
  return async () => {
    const code = await server.interrupt()
    const left = await mountsBelow(dataDir)
    if (code !== 0 || left.length > 0)
      throw new Error(
        `the shared server exited with ${code}; see ${server.logFile}. Mounts left over:\n${left.join('\n')}`,
      )
    await removeDataDir(dataDir)
    await rm(provider.folder, { recursive: true })
  }
}
