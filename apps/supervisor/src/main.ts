/** Entry point, started by script/server as root in a new mount namespace, with the data folder locked. */
import { resolve } from 'node:path'
import { compileOnly } from '@dock/foundation'
import { warningsOfRemovedSettings } from './removed-settings.ts'
import { readSettings } from './settings.ts'
import { createSupervisor } from './supervisor.ts'

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const run = async (): Promise<void> => {
  const settings = await readSettings(process.env, resolve(import.meta.dirname, '../../..'))
  for (const warning of warningsOfRemovedSettings(settings.environment)) say(`Warning: ${warning}`)
  const supervisor = createSupervisor(settings, Number(process.env['DOCK_STARTED_AT'] ?? Date.now()), say)
  let ending: Promise<void> | undefined
  const end = (exitCode: number): Promise<void> => {
    ending ??= supervisor.stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        say(`Dock could not stop cleanly: ${messageOf(error)}`)
        process.exit(1)
      },
    )
    return ending
  }
  // Keep running if stdout is closed, for example because its terminal is gone. Otherwise the processes would be orphaned.
  process.stdout.on('error', () => undefined)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      say(ending ? 'Still stopping.' : 'Stopping Dock: the disks of running Docks are kept.')
      void end(0)
    })
  }
  // The supervisor's other timers do not keep the process alive. This one does, even while all processes restart.
  setInterval(() => undefined, 60_000)
  try {
    await supervisor.start()
  } catch (error) {
    if (!ending) say(`Dock did not start. ${messageOf(error)}`)
    await end(1)
  }
}

if (!compileOnly)
  await run().catch((error: unknown) => {
    say(`Dock did not start. ${messageOf(error)}`)
    process.exitCode = 1
  })
