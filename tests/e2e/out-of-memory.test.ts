/** A Dock that takes more memory than it has: whatever the kernel ends for it, the Dock is there again with its files. */
import { expect, it } from 'vitest'
import { createDock, exec, run } from './support/dock.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()

const alertsOf = async (id: string): Promise<string[]> => {
  const { notifications } = await server.client.call('listNotifications', { query: {} })
  return notifications.filter(({ dockId }) => dockId === id).map(({ type }) => type)
}

it.each([
  { hog: 'a process', program: '$hog = "x" x (1 << 30);', outcome: { stdout: '' }, alerts: [] },
  {
    // A file in memory is no process's, but the sandbox's own.
    hog: 'its sandbox',
    program: `$name = "hog"; $file = syscall(319, $name, 0); $part = "x" x (1 << 20);
      open(HOG, ">&=", $file); syswrite(HOG, $part) or die $! for 1 .. 1024;`,
    outcome: { code: 'exec_failed' },
    alerts: ['auto_recovered'],
  },
])('goes on with its files after $hog took all memory', async ({ program, outcome, alerts }) => {
  const dock = await createDock(server, { memoryMiB: 512 })
  await run(server, dock.id, 'echo what is kept >kept')
  const command = `perl -e '${program} print "all of it"'`
  expect(await exec(server, dock.id, command).catch((error) => error)).toMatchObject(outcome)
  const kept = () => run(server, dock.id, 'cat kept').catch(String)
  await expect.poll(kept, { timeout: 60_000 }).toBe('what is kept\n')
  expect(await alertsOf(dock.id)).toEqual(alerts)
})
