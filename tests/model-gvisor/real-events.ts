/** Events without a caller on a server with real Docks: sandboxes and processes are killed. */
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { type CrashWorld, settle } from '../crash/crash-case.ts'
import { killSandbox, processOf } from '../crash/processes.ts'
import { type Command, command } from '../model/support/command.ts'
import { die, isReady } from '../model/support/model.ts'
import type { System } from '../model/support/system.ts'

const stateOf = async ({ db }: System, id: string): Promise<unknown> =>
  (await sql`select state, generation from docks where id = ${id}`.execute(db)).rows[0]

const killSandboxOf = (index: number): Command =>
  command({
    name: `kill the sandbox of ${index}`,
    check: (model) => model.docks.some(isReady),
    run: async (model, system) => {
      const live = model.docks.filter(isReady)
      const dock = live[index % live.length]!
      await killSandbox(dock.id)
      die(model, dock)
      const { state, generation } = dock
      await expect.poll(() => stateOf(system, dock.id), { timeout: 60_000 }).toEqual({ state, generation })
    },
  })

const killProcess = (world: CrashWorld, victim: 'control-plane' | 'agent'): Command =>
  command({
    name: `kill the ${victim}`,
    run: async () => {
      process.kill((await processOf(victim, world))!, 'SIGKILL')
      expect(await settle(world, Date.now())).toEqual([])
    },
  })

/** `world` is called only when a command is generated, because the server starts after the tests are defined. */
export function realEvents(world: () => CrashWorld): fc.Arbitrary<Command>[] {
  return [
    fc.nat({ max: 5 }).map((index) => killSandboxOf(index)),
    fc.constantFrom('control-plane' as const, 'agent' as const).map((victim) => killProcess(world(), victim)),
  ]
}
