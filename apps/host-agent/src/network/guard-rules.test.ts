/** Requires root. */
import { tryCommand } from '@dock/foundation'
import { runWithFewDescriptors } from '@dock/testkit/src/run-with-few-descriptors.ts'
import { afterAll, expect, test } from 'vitest'

const table = `dkt_guard_${process.pid}`
afterAll(() => tryCommand('nft', ['delete', 'table', 'inet', table]))

test('a monitor that cannot be started for want of descriptors is started later, and once', async () => {
  const { code, printed } = await runWithFewDescriptors(`
    const { guardRules } = await import('${new URL('./guard-rules.ts', import.meta.url)}')
    const { runCommand } = await import('@dock/foundation')
    const rules = { replace: 'table inet ${table} { chain c { drop; }; }', refresh: 'no rules' }
    const monitors = async () =>
      (await runCommand('pgrep', ['-P', String(process.pid), '-f', 'nft monitor'])).trim().split('\\n')
    const guard = await guardRules({ table: '${table}', rules, logger: { warn, error } })
    let restarts = 0
    async function warn() {
      restarts += 1
      console.log('restarting')
      if (restarts === 2) closeAll()
    }
    async function error(_, text) {
      console.log(text)
      console.log('monitors:', (await monitors()).length)
      await guard.close()
    }
    const [first] = await monitors()
    openAll()
    process.kill(Number(first))
    while (restarts < 2) await new Promise((resolve) => setTimeout(resolve, 20))
    for (;;) {
      const [next] = await monitors().catch(() => [])
      if (next) break
    }
    await runCommand('nft', ['delete', 'table', 'inet', '${table}'])`)
  expect(printed).toBe(
    'restarting\nrestarting\nanother program removed or changed the packet rules for Docks; they were restored\nmonitors: 1\n',
  )
  expect(code).toBe(0)
})
