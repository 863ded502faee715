/**
 * Restores the packet rules for Docks when another program changes them. A flush of the whole ruleset (`systemctl restart
 * nftables` does that) would give all Docks access to this host and its networks. `nft monitor` reports every change, and
 * a missing or changed table is rewritten immediately.
 */
import { spawn } from 'node:child_process'
import { createSerial, type Logger, runCommand, tryCommand } from '@dock/foundation'
import { countingSets, rangeSets, type TableRules } from './filter-rules.ts'

const restartMs = 1_000
/** Interval of checks that need no event, in case an event was missed. */
const checkIntervalMs = 30_000

export type RuleGuard = { close(): Promise<void> }

/** Removes the contents of the given sets from the text of a table. */
const withoutElements = (text: string, sets: readonly string[]): string =>
  text.replace(new RegExp(`^\\tset (${sets.join('|')}) \\{[\\s\\S]*?^\\t\\}\\n`, 'gm'), (set) =>
    set.slice(0, set.indexOf('{')),
  )

/** Reads the table from the kernel, without its counts. Returns '' if it does not exist. */
const readTable = async (table: string): Promise<string> => {
  const { code, stdout } = await tryCommand('nft', ['-s', 'list', 'table', 'inet', table])
  return code === 0 ? withoutElements(stdout, countingSets) : ''
}

/**
 * Rewrites the rules but keeps the counts. Returns false if the kernel refuses. Confirmed flows are not counted again, so
 * a Dock whose counts are reset could open as many connections once more (decision 026).
 */
const refresh = async (rules: TableRules): Promise<boolean> =>
  (await tryCommand('nft', ['-f', '-'], { input: rules.refresh })).code === 0

const replace = async (rules: TableRules): Promise<void> => {
  await runCommand('nft', ['-f', '-'], { input: rules.replace })
}

/** Writes the rules. Returns the resulting table as read from the kernel. */
const writeFirst = async (table: string, rules: TableRules): Promise<string> => {
  const before = await readTable(table)
  if (before && (await refresh(rules))) {
    const after = await readTable(table)
    // Elements keep the limit of the rule that created them, so keep the counts only if the rules are the same.
    const [former, present] = [before, after].map((text) => withoutElements(text, rangeSets))
    if (former === present) return after
  }
  const replaceAndRead = async (): Promise<string> => {
    await replace(rules)
    return await readTable(table)
  }
  // Another program may flush the ruleset at this moment. Retry once, because an empty table must not become the reference.
  const written = (await replaceAndRead()) || (await replaceAndRead())
  if (!written) throw new Error(`nft does not show the table ${table} that was just written`)
  return written
}

/** Writes the rules and restores them until `close` is called. */
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

  const checkRules = async (): Promise<void> => {
    if (signal.aborted) return
    const found = await readTable(table)
    if (found === wanted || signal.aborted) return
    const isRefreshed = found !== '' && (await refresh(rules)) && (await readTable(table)) === wanted
    if (!isRefreshed) await replace(rules)
    logger.error(
      { table },
      'another program removed or changed the packet rules for Docks; they were restored',
    )
  }
  let isWaiting = false
  /** Checks the rules soon. Events that arrive before the check starts cause only one check. */
  const checkSoon = (): void => {
    if (isWaiting) return
    isWaiting = true
    inTurn('check', () => {
      isWaiting = false
      return checkRules()
    }).catch((error: unknown) => {
      logger.error({ err: error, table }, 'could not restore the packet rules for Docks')
      setTimeout(checkSoon, restartMs).unref()
    })
  }

  const listen = (): void => {
    if (signal.aborted) return
    // pdeathsig ends it with the agent, even if the agent crashes.
    const monitor = spawn('setpriv', ['--pdeathsig', 'KILL', 'nft', 'monitor'], {
      stdio: ['ignore', 'pipe', 'ignore'],
      signal,
    })
    let isOver = false
    const listenAgain = (): void => {
      if (signal.aborted || isOver) return
      isOver = true
      logger.warn({ table }, 'nft monitor ended; restarting it')
      setTimeout(listen, restartMs).unref()
    }
    monitor.on('error', listenAgain)
    monitor.once('close', listenAgain)
    monitor.once('spawn', checkSoon)
    // Without descriptors left, the child has no streams.
    monitor.stdout?.on('data', checkSoon)
  }
  listen()
  const timer = setInterval(checkSoon, checkIntervalMs).unref()
  return {
    close: async () => {
      clearInterval(timer)
      closing.abort()
      await inTurn('check', async () => undefined)
    },
  }
}
