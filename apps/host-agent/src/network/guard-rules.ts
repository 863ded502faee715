/**
 * Keeps the host's packet rules for Docks as they were written. Whoever flushes the ruleset (`systemctl restart
 * nftables` does) would open this host and every neighbour to all Docks: the kernel tells of each change, and a table
 * that is gone or changed is written again at once.
 */
import { spawn } from 'node:child_process'
import { type Logger, runCommand, tryCommand } from '@dock/foundation'
import { createSerial } from '../disks/serial.ts'
import { countingSets, rangeSets, type TableRules } from './filter-rules.ts'

const restartMs = 1_000
/** What no event told of is found by then. */
const lookAgainMs = 30_000

export type RuleGuard = { close(): Promise<void> }

/** The text of a table without the contents of the sets named. */
const withoutElements = (text: string, sets: readonly string[]): string =>
  text.replace(new RegExp(`^\\tset (${sets.join('|')}) \\{[\\s\\S]*?^\\t\\}\\n`, 'gm'), (set) =>
    set.slice(0, set.indexOf('{')),
  )

/** The table as the kernel has it, without what its rules count; empty when it is gone. */
const readTable = async (table: string): Promise<string> => {
  const { code, stdout } = await tryCommand('nft', ['-s', 'list', 'table', 'inet', table])
  return code === 0 ? withoutElements(stdout, countingSets) : ''
}

/**
 * Writes the rules but keeps the sets in which they count flows. Returns false if the kernel refuses. A confirmed flow is
 * never counted again: a Dock whose set is emptied could open a second allotment (decision 077).
 */
const refresh = async (rules: TableRules): Promise<boolean> =>
  (await tryCommand('nft', ['-f', '-'], { input: rules.refresh })).code === 0

const replace = async (rules: TableRules): Promise<void> => {
  await runCommand('nft', ['-f', '-'], { input: rules.replace })
}

/** Writes the rules. Returns the table as the kernel then has it. */
const writeFirst = async (table: string, rules: TableRules): Promise<string> => {
  const before = await readTable(table)
  if (before && (await refresh(rules))) {
    const after = await readTable(table)
    // An element keeps the limit of the rule that made it, so the sets are kept only if the rules are the same.
    const [former, present] = [before, after].map((text) => withoutElements(text, rangeSets))
    if (former === present) return after
  }
  const replaceAndRead = async (): Promise<string> => {
    await replace(rules)
    return await readTable(table)
  }
  // Somebody may flush the ruleset in this very moment: an absent table is never what is wanted.
  const written = (await replaceAndRead()) || (await replaceAndRead())
  if (!written) throw new Error(`nft does not show the table ${table} that was just written`)
  return written
}

/** Writes the rules, and keeps them from then on. */
export async function guardRules(options: {
  table: string
  rules: TableRules
  logger: Logger
}): Promise<RuleGuard> {
  const { table, rules, logger } = options
  const wanted = await writeFirst(table, rules)
  const inTurn = createSerial()
  const closing = new AbortController()
  const { signal } = closing

  const look = async (): Promise<void> => {
    if (signal.aborted) return
    const found = await readTable(table)
    if (found === wanted || signal.aborted) return
    const isRefreshed = found !== '' && (await refresh(rules)) && (await readTable(table)) === wanted
    if (!isRefreshed) await replace(rules)
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
