import type { HostTest } from '@dock/sdk'
import { pick } from '../docks/pick.ts'
import { runtimeOf } from '../docks/runtime-of.ts'
import { wordOf } from '../docks/words.ts'
import { formatAge, formatBytes } from '../output/formats.ts'
import type { Command } from '../program/command.ts'

const list: Command = {
  path: ['host', 'ls'],
  summary: 'List the hosts of the instance; for its admins',
  async run(context) {
    const all = await (await context.client()).call('listHosts')
    context.out.list(all, {
      ID: (each) => each.id,
      STATE: (each) => each.state,
      RUNTIME: (each) => each.runtime,
      DOCKS: (each) => `${each.runningDocks} of ${each.maxDocks}`,
      CPUS: (each) => String(each.vcpuTotal),
      MEMORY: (each) => formatBytes(each.memTotalBytes),
      DISK: (each) => formatBytes(each.diskTotalBytes),
      SEEN: (each) => `${formatAge(each.lastHeartbeatAt)} ago`,
    })
  },
}

const show: Command = {
  path: ['host', 'show'],
  summary: 'Show a host with the Docks on it; for admins of the instance',
  args: [{ name: 'HOST' }],
  async run(context, input) {
    const client = await context.client()
    const { id } = pick('host', await client.call('listHosts'), input.arg('HOST'), ({ address }) => [address])
    const [host, { runtimeRelease, isEmulated }] = await Promise.all([
      client.call('readHost', { params: { id } }),
      client.call('readHostVersions', { params: { id } }),
    ])
    context.out.result({ ...host, runtimeRelease, isEmulated }, () => {
      context.out.fields([
        ['id', host.id],
        ['state', host.state],
        ['address', host.address],
        ['kernel', host.kernelRelease],
        ['runtime', runtimeOf(host.runtime, runtimeRelease)],
        ...(isEmulated ? [['warning', 'microVMs are emulated: for tests only'] as [string, string]] : []),
      ])
      context.out.table(
        ['DOCK', 'STATE', 'WORKSPACE', 'ORGANIZATION', 'ID'],
        host.docks.map((each) => [
          each.name ?? '–',
          wordOf(each.state),
          each.workspaceName,
          each.organizationName,
          each.id,
        ]),
        { ids: host.docks.map((each) => each.id), empty: 'No Dock is on it.' },
      )
    })
  },
}

/** Returns the figures of a test in one line. */
export function formatHostTest({ bootMs, execMs, thawMs }: HostTest): string {
  const thaw = thawMs === null ? '' : `, thaw ${Math.round(thawMs)} ms`
  return `boot ${Math.round(bootMs)} ms, exec ${Math.round(execMs)} ms${thaw}`
}

const test: Command = {
  path: ['host', 'test'],
  summary: 'Boot a machine on a host, measure it, and remove it; for admins of the instance',
  args: [{ name: 'HOST' }],
  async run(context, input) {
    const client = await context.client()
    const { id } = pick('host', await client.call('listHosts'), input.arg('HOST'), ({ address }) => [address])
    const figures = await context.out.wait('Testing', client.call('testHost', { params: { id } }))
    context.out.result(figures, () => {
      context.out.fields([
        ['id', figures.hostId],
        ['runtime', figures.runtime],
        ['image', figures.image],
        ['figures', formatHostTest(figures)],
      ])
    })
  },
}

export const hostCommands: readonly Command[] = [list, show, test]
