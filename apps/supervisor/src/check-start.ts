/** Run by script/bootstrap before a first start: prints which setting must be corrected, and exits with 1. */
import { join, resolve } from 'node:path'
import { checkPort } from './check-port.ts'
import { readPidFile } from './process-identity.ts'
import { readSettings } from './settings.ts'

try {
  const settings = await readSettings(process.env, resolve(import.meta.dirname, '../../..'))
  // A control plane of an earlier start may still use the port. The coming start ends it.
  const leftover = await readPidFile(join(settings.dataDir, 'run/control-plane.pid'))
  if (!leftover) {
    const { bind, port, ssh } = settings
    await checkPort(bind, port)
    if (ssh?.isChosen) await checkPort(bind, ssh.port, { name: 'DOCK_SSH_PORT', example: '2223' })
  }
} catch (error) {
  process.stderr.write(`Dock cannot start. ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
