import { describe, expect, it } from 'vitest'
import {
  cpuMsOf,
  findServerProcesses,
  listDescendants,
  listProcesses,
  type Process,
} from './server-processes.ts'

const process1 = (pid: number, parent: number, command: string): Process => ({
  pid,
  parent,
  command: command.split(' '),
})

/** Two servers of different versions on one machine. */
const processes: Process[] = [
  process1(1, 0, '/sbin/init'),
  process1(10, 1, '/tools/node apps/server/src/main.ts'),
  process1(11, 10, '/usr/lib/postgresql/15/bin/postgres -D /run/dock-a/control/pg'),
  process1(12, 11, 'postgres: dock postgres [local] idle'),
  process1(13, 10, '/tools/node /run/dock-a/checkout/apps/control-plane/src/main.ts'),
  process1(14, 10, '/usr/bin/tini -s -- setpriv apps/host-agent/launch --keep-running'),
  process1(15, 14, 'bash /old/apps/host-agent/launch --keep-running'),
  process1(16, 15, '/tools/node --max-semi-space-size=2 /old/apps/host-agent/src/main.ts'),
  process1(17, 14, '/tools/node /old/apps/host-agent/src/process-keeper/main.ts'),
  process1(18, 14, 'runsc-sandbox --root=/data/host/runsc boot'),
  process1(20, 1, '/tools/node /new/.tools/compiled/supervisor.js'),
  process1(21, 20, '/usr/lib/postgresql/15/bin/postgres -D /run/dock-b/control/pg'),
  process1(22, 20, '/tools/node /run/dock-b/compiled/control-plane.js'),
  process1(23, 20, '/tools/node /new/.tools/compiled/host-agent.js'),
]

describe('findServerProcesses', () => {
  it('finds the processes of each server, and no others', () => {
    expect(findServerProcesses(processes, 10)).toEqual({ controlPlane: 13, agent: 16, postgres: 11 })
    expect(findServerProcesses(processes, 20)).toEqual({ controlPlane: 22, agent: 23, postgres: 21 })
  })

  it('does not take the keeper of processes for the agent', () => {
    const withoutAgent = processes.filter(({ pid }) => pid !== 16)
    expect(() => findServerProcesses(withoutAgent, 10)).toThrow('the host agent of the server with pid 10')
  })
})

it('lists descendants at any depth', () => {
  expect(listDescendants(processes, 14).map(({ pid }) => pid)).toEqual([15, 16, 17, 18])
})

it('reads this process and its processor time', async () => {
  const self = (await listProcesses()).find(({ pid }) => pid === process.pid)
  expect(self?.parent).toBe(process.ppid)
  const before = await cpuMsOf(process.pid)
  const begin = process.cpuUsage()
  while (process.cpuUsage(begin).user < 30_000) Math.sqrt(2)
  expect((await cpuMsOf(process.pid)) - before).toBeGreaterThan(5)
})
