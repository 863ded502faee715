/**
 * Keeps the host's packet rules for Docks as they were written. Whoever flushes the ruleset (`systemctl restart
 * nftables` does) would open this host and every neighbour to all Docks: the kernel tells of each change, and a table
 * that is gone or changed is written again at once.
 */
import { spawn } from 'node:child_process'
import { type Logger, runCommand, tryCommand } from '@dock/foundation'
import { createSerial } from '../disks/serial.ts'
import { countingSets } from './filter-rules.ts'

const restartMs = 1_000
/** What no event told of is found by then. */
const lookAgainMs = 30_000

export type RuleGuard = { close(): Promise<void> }

/** The table as the kernel has it, without what its rules count; empty when it is gone. */
const readTable = async (table: string): Promise<string> => {
  const { code, stdout } = await tryCommand('nft', ['-s', 'list', 'table', 'inet', table])
  if (code !== 0) return ''
  const counting = new RegExp(`^\\tset (${countingSets.join('|')}) \\{[\\s\\S]*?^\\t\\}\\n`, 'gm')
  return stdout.replace(counting, (set) => set.slice(0, set.indexOf('{')))
}

/** Writes the rules, and keeps them from then on. `script` replaces the table in one step. */
export async function guardRules(options: {
  table: string
  script: string
  logger: Logger
}): Promise<RuleGuard> {
  const { table, script, logger } = options
  const write = () => runCommand('nft', ['-f', '-'], { input: script })
  const writeAndRead = async (): Promise<string> => {
    await write()
    return await readTable(table)
  }
  // Somebody may flush the ruleset in this very moment: an absent table is never what is wanted.
  const wanted = (await writeAndRead()) || (await writeAndRead())
  if (!wanted) throw new Error(`nft does not show the table ${table} that was just written`)
  const inTurn = createSerial()
  const closing = new AbortController()
  const { signal } = closing

  const look = async (): Promise<void> => {
    if (signal.aborted || (await readTable(table)) === wanted) return
    if (signal.aborted) return
    await write()
    logger.error(
      { table },
      'somebody removed or changed the packet rules of the Docks: they are in force again',
    )
  }
  let isWaiting = false
  /** Many events are one look, which begins after the last of them. */
  const lookSoon = (): void => {
    if (isWaiting) return
    isWaiting = true
    inTurn('look', () => {
      isWaiting = false
      return look()
    }).catch((error: unknown) => {
      logger.error({ err: error, table }, 'the packet rules of the Docks could not be restored')
      setTimeout(lookSoon, restartMs).unref()
    })
  }

  const listen = (): void => {
    if (signal.aborted) return
    // It ends with the agent, however that ends.
    const monitor = spawn('setpriv', ['--pdeathsig', 'KILL', 'nft', 'monitor'], {
      stdio: ['ignore', 'pipe', 'ignore'],
      signal,
    })
    monitor.once('spawn', lookSoon)
    monitor.stdout.on('data', lookSoon)
    monitor.on('error', () => undefined)
    monitor.once('close', () => {
      if (signal.aborted) return
      logger.warn({ table }, 'nft monitor ended and is started again')
      setTimeout(listen, restartMs).unref()
    })
  }
  listen()
  const timer = setInterval(lookSoon, lookAgainMs).unref()
  return {
    close: async () => {
      clearInterval(timer)
      closing.abort()
      await inTurn('look', async () => undefined)
    },
  }
}
