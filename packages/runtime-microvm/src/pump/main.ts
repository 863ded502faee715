/**
 * The pump: moves the streams of kept programs between guests and pipes of the host. Started by the driver, which it outlives.
 * Argument: the path of its socket. Exits when it is of no use: at once after the end of the last machine, otherwise after a
 * minute.
 */
import { rmSync } from 'node:fs'
import { compileOnly, createLogger, guardProcess } from '@dock/foundation'
import { Pump } from './pump.ts'
import { createPumpServer } from './pump-server.ts'

const idleMs = 60_000
const pollMs = 10_000
/** How soon a pump that was told to end notices that the last program has ended. */
const endPollMs = 100

const run = async (socketPath: string): Promise<void> => {
  // Signals for the group of a terminal or of the agent are not meant for the pump.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  const logger = createLogger('microvm-pump')
  guardProcess({ logger, leave: () => process.exit(1) })
  const pump = new Pump(logger)
  let requests = 0
  let usedAt = performance.now()
  const exit = (): void => {
    rmSync(socketPath, { force: true })
    process.exit(0)
  }
  const onUse = (by: 1 | -1): void => {
    requests += by
    usedAt = performance.now()
  }
  let isTold = false
  /** A program that it takes meanwhile is carried to its end. */
  const endWhenUnneeded = (): void => {
    if (isTold) return
    isTold = true
    setInterval(() => {
      if (requests === 0 && !pump.isNeeded) exit()
    }, endPollMs)
  }
  const server = createPumpServer(pump, onUse, endWhenUnneeded)
  // The driver starts a pump only when none listens. So this file belongs to a pump that has ended.
  rmSync(socketPath, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, resolve)
  })
  setInterval(() => {
    if (requests > 0 || pump.isNeeded) usedAt = performance.now()
    if (performance.now() - usedAt >= idleMs) exit()
  }, pollMs)
  logger.info('pump of microVMs ready')
}

if (!compileOnly) {
  const [socketPath] = process.argv.slice(2)
  if (!socketPath) throw new Error('usage: main.ts SOCKET')
  await run(socketPath)
}
