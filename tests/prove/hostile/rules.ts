/** Flushes all firewall rules of the machine while Docks run, like a restart of the firewall. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { withServer } from '../../../bench/parts/bench-server.ts'
import { processOf } from '../../crash/processes.ts'
import { createDock, exec, run } from '../../e2e/support/dock.ts'
import { untilTrue } from './attackers.ts'
import type { Report } from './report.ts'

const execute = promisify(execFile)
const greeter = new URL('../../e2e/support/isolation/greet.pl', import.meta.url).pathname
const port = 7_777
const backWithinMs = 10_000

const areThere = async (): Promise<boolean> =>
  (await execute('nft', ['list', 'ruleset'])).stdout.includes('chain from_dock')

export function flushedRules(report: Report): Promise<void> {
  return withServer({ DOCK_WARM_POOL: '0' }, async (server) => {
    const agent = (await processOf('agent', server))!
    const [a, b] = [await createDock(server), await createDock(server)]
    const gateway = (await run(server, a.id, "ip route | awk '/default/ {print $3}'")).trim()
    const host = spawn('perl', [greeter, String(port), '127.0.0.1'], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await once(host.stdout, 'data')
      const greet = `perl -e "$PROGRAM" ${port} ${b.ip} >heard 2>&1 & until grep -q ready heard; do sleep 0.1; done`
      await exec(server, b.id, greet, { env: { PROGRAM: readFileSync(greeter, 'utf8') } })
      // Repeatedly tries to connect to the host and the neighbor, and records each success.
      const tries = `timeout 0.5 bash -c "</dev/tcp/$to/${port}" 2>/dev/null && echo "$to" >>reached`
      const probe = `>reached; >beats; (while :; do for to in ${gateway} ${b.ip}; do ${tries}; done; echo >>beats; sleep 0.05; done) >/dev/null 2>&1 &`
      await run(server, a.id, probe)
      /** Returns the number of connections since the last call. */
      const reached = async (): Promise<number> => Number(await run(server, a.id, 'wc -l <reached; >reached'))
      const isProbing = async (): Promise<boolean> =>
        Number(await run(server, a.id, '>beats; sleep 2; wc -l <beats')) > 0
      const before = (await isProbing()) ? await reached() : -1

      process.kill(agent, 'SIGSTOP')
      await execute('nft', ['flush', 'ruleset'])
      await delay(1_500)
      process.kill(agent, 'SIGCONT')
      const firstMs = await untilTrue(areThere, backWithinMs)
      const whileOpen = await reached()
      const control = before === 0 && whileOpen > 0
      report.attack({
        what: 'nft flush ruleset while the agent is paused',
        control,
        holds: firstMs !== null,
        seen:
          firstMs === null
            ? `the rules are not back after ${backWithinMs} ms`
            : `${whileOpen} connections got through; the rules are back ${firstMs} ms after the agent continued`,
      })
      if (firstMs === null) return

      await reached()
      await execute('nft', ['flush', 'ruleset'])
      const againMs = await untilTrue(areThere, backWithinMs, 5)
      await delay(1_000)
      const through = await reached()
      const works = await isProbing()
      const after = await reached()
      report.attack({
        what: 'nft flush ruleset',
        control,
        holds: againMs !== null && after === 0 && works,
        seen: `the rules are back after ${againMs} ms, ${through} connections got through meanwhile, ${after} after that`,
      })
    } finally {
      host.kill()
    }
  })
}
