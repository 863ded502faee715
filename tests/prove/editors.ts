/**
 * script/prove editors [part...]: uses a real Dock as editors and people do, through OpenSSH: VS Code in a browser, a
 * Remote-SSH style bootstrap, a terminal under tmux, JetBrains and Zed, git and rsync. Each part prints one line.
 * Pictures of VS Code are left in the folder that the proof names. Exits with 1 if a part failed.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { print } from '../../bench/parts/bench-server.ts'
import { newDataDir, removeDataDir, startServer } from '../e2e/support/server.ts'
import { proveGit, proveRsync } from './editors/git-and-rsync.ts'
import { proveInteractive } from './editors/interactive.ts'
import { proveRemoteSsh } from './editors/remote-ssh.ts'
import { proveJetBrains, proveZed } from './editors/remote-tools.ts'
import { createSetting, type Setting } from './editors/setting.ts'
import { proveVscode } from './editors/vscode.ts'

const pictures = await mkdtemp(join(tmpdir(), 'dock-editors-'))
const parts: Record<string, (setting: Setting) => Promise<string>> = {
  vscode: (setting) => proveVscode(setting, pictures),
  'remote-ssh': proveRemoteSsh,
  tmux: proveInteractive,
  jetbrains: proveJetBrains,
  zed: proveZed,
  git: proveGit,
  rsync: proveRsync,
}
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)
const unknown = wanted.filter((name) => !parts[name])
if (unknown.length > 0) {
  print(`There is no part ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(' ')}`)
  process.exit(2)
}

const dataDir = await newDataDir()
const server = await startServer(dataDir, await freePort(), {
  DOCK_SSH_PORT: String(await freePort()),
  DOCK_WARM_POOL: '1',
})
let failed = 0
const setting = await createSetting(server)
for (const name of wanted) {
  const begin = performance.now()
  const seconds = (): string => `${Math.round((performance.now() - begin) / 1000)} s`
  try {
    print(`ok     ${name}: ${await parts[name]!(setting)} (${seconds()})`)
  } catch (error) {
    failed += 1
    const cause = error instanceof Error && error.cause ? `: ${error.cause}` : ''
    print(`FAILED ${name}: ${error}${cause} (${seconds()})`)
  }
}
await setting.end()
if (wanted.includes('vscode')) print(`       pictures: ${pictures}`)
const code = await server.interrupt()
if (code === 0 && failed === 0) await removeDataDir(dataDir)
print(
  failed === 0 && code === 0
    ? 'pass: the editors and tools work in a Dock'
    : `fail: ${failed} parts failed, and the server exited with ${code}; its log is ${server.logFile}`,
)
process.exit(failed === 0 && code === 0 ? 0 : 1)
