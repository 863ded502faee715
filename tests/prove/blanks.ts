/**
 * Kills the agent at random moments while sandboxes are created ahead, wait, and become those of Docks. After each kill
 * nothing may be left of a sandbox that nobody has, and every Dock must work. Run by script/prove blanks.
 *   script/prove blanks --kills 60
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cleanUp, settle } from '../crash/crash-case.ts'
import { createCrashWorld, endCrashWorld } from '../crash/crash-world.ts'
import { processOf, sandboxNamesOf } from '../crash/processes.ts'
import { readFound } from '../crash/scan.ts'
import { createDock, deleteDock, run } from '../e2e/support/dock.ts'

const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '60' },
  },
})
const world = await createCrashWorld()
print(`log of the server: ${world.logFile}`)

const blanksNow = async (): Promise<number> => {
  const agent = await processOf('agent', world)
  if (agent === null) return 0
  return (await readFound(world.dataDir, agent, [])).sandboxes.filter((name) => name.startsWith('blank-'))
    .length
}
const untilBlanks = async (): Promise<void> => {
  const deadline = Date.now() + 20_000
  while ((await blanksNow()) < 2) {
    if (Date.now() > deadline) throw new Error('no sandboxes were created ahead')
    await delay(50)
  }
}
const killAgent = async (): Promise<void> => {
  const agent = await processOf('agent', world)
  if (agent === null) throw new Error('no agent is running')
  process.kill(agent, 'SIGKILL')
}

const kept = await createDock(world, { name: 'kept' })
await run(world, kept.id, 'echo content >~/file')
const stopped = await createDock(world, { name: 'stopped' })
await run(world, stopped.id, 'echo content >~/file')
await world.client.call('stopDock', { params: { id: stopped.id }, body: {} })

const problems: string[] = []
let fromBlank = 0
for (let kill = 1; kill <= Number(values.kills); kill++) {
  const begin = Date.now()
  // The first boot shows the new agent which size is asked for.
  const first = await createDock(world, { name: `first-${kill}` })
  const params = { id: stopped.id }
  let moment = 'while blanks are created or wait'
  let booting: Promise<unknown> = Promise.resolve()
  if (kill % 2 === 0) {
    moment = 'while a blank is taken'
    await untilBlanks()
    booting =
      kill % 4 === 0
        ? createDock(world, { name: `second-${kill}` })
        : world.client.call('resumeDock', { params, body: {} })
    await delay(Math.random() * 200)
  } else await delay(Math.random() * 1_500)
  const blanks = await blanksNow().catch(() => -1)
  await killAgent()
  await booting.catch(() => undefined)
  const found = await settle(world, begin)
  const look = async (id: string, name: string | null): Promise<void> => {
    const text = await run(world, id, 'cat ~/file; hostname').catch(String)
    if (text !== `content\n${name}\n`) found.push(`Dock ${name} says ${text}`)
    if ((await sandboxNamesOf(id)).some((each) => each.startsWith('blank-'))) fromBlank += 1
  }
  await look(kept.id, 'kept')
  const { state } = await world.client.call('readDock', { params })
  if (state === 'archived') await world.client.call('resumeDock', { params, body: {} })
  await look(stopped.id, 'stopped')
  await world.client.call('stopDock', { params, body: {} })
  for (const { id, name } of await world.client.call('listDocks', { query: { all: true } }))
    if (/^(first|second)-/.test(name ?? '')) await deleteDock(world, id)
  print(`${found.length === 0 ? 'ok    ' : 'FAILED'} ${kill} ${moment}, ${blanks} blanks, Dock ${first.name}`)
  for (const problem of found) print(`         ${problem}`)
  problems.push(...found)
}
problems.push(...(await cleanUp(world)))

const { instance } = JSON.parse(await readFile(join(world.dataDir, 'host/subnet'), 'utf8')) as {
  instance: string
}
const tag = createHash('sha256').update(instance).digest('hex')
const bundles = `/run/dock-${tag.slice(0, 12)}/sandboxes`
const ofBlanks = `blank-${createHash('sha256').update(bundles).digest('hex').slice(0, 8)}`
await endCrashWorld(world)
const groups = await Promise.all(
  ['', ...(await readdir('/sys/fs/cgroup'))].map((name) =>
    readdir(join('/sys/fs/cgroup', name, 'dock')).catch(() => []),
  ),
)
const left = [
  ...(await readdir('/run/netns')).filter((name) => name.startsWith(`gvh${tag.slice(0, 5)}-`)),
  ...(await readdir(bundles).catch(() => [])).filter((name) => name.startsWith('blank-')),
  ...groups.flat().filter((name) => name.startsWith(ofBlanks)),
]
for (const each of left) print(`left after the end: ${each}`)
print(
  `${values.kills} kills, ${fromBlank} looks into Docks from blanks, ${problems.length + left.length} problems`,
)
process.exit(problems.length + left.length === 0 ? 0 : 1)
