/**
 * Shows that no process of a command survives its timeout, with both ways to run commands in a sandbox: 50 rounds each
 * of a command whose processes detach in every known way. As a control, the same processes are found without a timeout.
 */
import { freePort } from '@dock/testkit/src/free-port.ts'
import { createDock, deleteDock, exec, run } from '../e2e/support/dock.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../e2e/support/server.ts'

const rounds = Number(process.argv[2] ?? '50')

/** Each line detaches in a different way. */
const leaving = [
  'setsid sleep 77701 &',
  'nohup sleep 77702 >/dev/null 2>&1 &',
  '(sleep 77703 &)',
  "env -i setsid bash -c '(sleep 77704 &)' &",
  '(env -i setsid setsid sleep 77705 &)',
  '(env -i unshare --user --map-root-user setsid sleep 77706 &)',
  'sudo sleep 77707 &',
  '(sudo setsid nohup sleep 77708 >/dev/null 2>&1 &)',
  "(env -i setsid bash -c 'exec -a sleep-77709 sleep 77709' &)",
].join('\n')
/** A process that replaces itself with a new process every few milliseconds. */
const hopping = `hop() { sleep 0.01; (hop 77710 &); }; (hop 77710 &)`
const find = `
  for file in /proc/[0-9]*/cmdline; do
    mapfile -d '' -t words <"$file" 2>/dev/null
    case "\${words[*]}" in *[s]leep*777??*) echo "\${words[*]}" ;; esac
  done`

/**
 * Lists which of the processes above are alive, and counts shells. Uses one command, because a Dock allows two a
 * second.
 */
const alive = async (server: Server, id: string): Promise<{ left: string[]; shells: number }> => {
  const lines = await run(server, id, `${find}\necho shells $(pgrep -c bash)`)
  const left = [...new Set(lines.match(/(?<=sleep[ -])777\d\d/g))].sort()
  return { left, shells: Number(/shells (\d+)/.exec(lines)?.[1]) }
}

/** Runs all rounds in a new Dock. Returns the number of failed rounds. */
const prove = async (server: Server, name: string): Promise<number> => {
  const { id } = await createDock(server)
  await exec(server, id, `${leaving}\nsleep 0.5`)
  const control = (await alive(server, id)).left
  await run(server, id, "sudo bash -c 'kill -9 $(pgrep -f [s]leep)'; true")
  let left = 0
  for (let round = 1; round <= rounds; round++) {
    const command = `${leaving}\n${hopping}\nsleep 77700`
    const outcome = await exec(server, id, command, { timeoutSeconds: 1 }).then(
      () => 'ended by itself',
      (error: { code: string }) => error.code,
    )
    const found = await alive(server, id)
    if (outcome !== 'exec_timeout' || found.left.length > 0 || found.shells !== 1) {
      left += 1
      console.log(
        `${name}, round ${round}: ${outcome}, ${found.shells} shells, left: ${found.left.join(', ')}`,
      )
    }
  }
  await deleteDock(server, id)
  console.log(
    `${name}: without a timeout ${control.length} of 9 processes survive; with a timeout, none in ${rounds - left} of ${rounds} rounds`,
  )
  return control.length === 9 ? left : rounds
}

let failed = 0
for (const [name, setting] of [
  ['control socket', 'on'],
  ['runsc exec', 'off'],
] as const) {
  const dataDir = await newDataDir()
  const server = await startServer(dataDir, await freePort(), { DOCK_CONTROL_SOCKET: setting })
  try {
    failed += await prove(server, name)
  } finally {
    await server.interrupt()
    await removeDataDir(dataDir)
  }
}
process.exitCode = failed === 0 ? 0 : 1
