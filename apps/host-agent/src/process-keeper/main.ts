/**
 * The process keeper: holds the ends of the pipes of kept processes, so that these outlive the host agent. Started by the
 * agent, which it outlives. Arguments: the folder of the output, the path of the socket, and settings as JSON. Exits when it
 * has been of no use for ten minutes.
 */
import { rmSync } from 'node:fs'
import { mkdir, statfs } from 'node:fs/promises'
import { compileOnly, createLogger, guardProcess } from '@dock/foundation'
import { Keeper } from './keeper.ts'
import { createKeeperServer } from './keeper-server.ts'
import { hostBytesMaxOn, type KeeperSettings, keeperDefaults } from './keeper-settings.ts'

const run = async (root: string, socketPath: string, settings: KeeperSettings): Promise<void> => {
  // Signals for the group of a terminal or of the agent are not meant for the keeper.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  const logger = createLogger('process-keeper')
  const log = (error: unknown): void => logger.error({ err: error }, 'a kept process')
  // Announces nothing: the agent takes it for a death, and starts another keeper.
  guardProcess({ logger, leave: () => process.exit(1) })
  const keeper = await Keeper.open(root, settings, log)
  let inUse = 0
  let usedAt = performance.now()
  const exit = async (): Promise<void> => {
    rmSync(socketPath, { force: true })
    await announceEnd()
    process.exit(0)
  }
  const { server, announceEnd } = createKeeperServer(keeper, {
    log,
    onUse: (by) => {
      inUse += by
      usedAt = performance.now()
    },
    onEndOrdered: () => void exit(),
  })
  // The agent starts a keeper only if none listens, so the file is left from one that ended.
  rmSync(socketPath, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, resolve)
  })
  const checkUse = (): void => {
    if (inUse > 0 || keeper.isNeeded) usedAt = performance.now()
    if (performance.now() - usedAt >= settings.idleMs) void exit()
  }
  setInterval(checkUse, Math.min(60_000, settings.idleMs / 2))
  logger.info({ root }, 'process keeper ready')
}

if (!compileOnly) {
  const [root, socketPath, settings = '{}'] = process.argv.slice(2)
  if (!root || !socketPath) throw new Error('usage: main.ts FOLDER SOCKET [SETTINGS]')
  await mkdir(root, { recursive: true, mode: 0o700 })
  const { blocks, bsize } = await statfs(root)
  await run(root, socketPath, {
    ...{ ...keeperDefaults, hostBytesMax: hostBytesMaxOn(blocks * bsize) },
    ...(JSON.parse(settings) as Partial<KeeperSettings>),
  })
}
