import { findDock, nameOf, openDock } from '../docks/find-dock.ts'
import { formatAge } from '../output/formats.ts'
import type { Argument, Command } from '../program/command.ts'
import { UsageError } from '../program/failures.ts'
import { explainStopped } from '../remote/explain-stopped.ts'
import { openPage, webAddress } from '../settings/open-page.ts'
import { runSsh } from '../ssh/run-ssh.ts'
import { readSshTarget, sshArguments } from '../ssh/ssh-target.ts'
import { dockArgument, requiredDock } from './docks.ts'
import { explainMissingKey } from './ssh.ts'

const portArgument: Argument = { name: 'PORT' }

const portOf = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new UsageError(`${JSON.stringify(text)} is no port: 1 to 65535.`)
  return port
}

const listPorts: Command = {
  path: ['port', 'ls'],
  summary: 'List the exposed ports of a Dock',
  args: [dockArgument],
  async run(context, input) {
    const dock = await openDock(context, input.optional('DOCK'))
    const ports = await dock.ports()
    context.out.list(
      ports,
      {
        PORT: ({ port }) => String(port),
        ADDRESS: ({ url }) => url ?? '–',
        AGE: ({ createdAt }) => formatAge(createdAt),
      },
      { needed: [0, 1], empty: 'No port is exposed. Expose one: dock port expose DOCK PORT' },
    )
  },
}

const expose: Command = {
  path: ['port', 'expose'],
  summary: 'Expose a port of a Dock at a public address',
  args: [requiredDock, portArgument],
  flags: [
    {
      name: 'host',
      value: 'HOST',
      choices: ['local', 'public'],
      about: 'what the program sees as Host: localhost and the port, at first, or the public name',
    },
  ],
  async run(context, input) {
    const port = portOf(input.arg('PORT'))
    const host = input.text('host')
    const dock = await openDock(context, input.arg('DOCK'))
    const entry = await explainStopped(dock, () => dock.port(port))
    if (host === 'local' || host === 'public')
      await dock.client.call('changePort', { params: { id: dock.id, port }, body: { host } })
    context.out.result(entry, () => context.out.line(entry.url ?? `Port ${port} is exposed.`))
  },
}

const close: Command = {
  path: ['port', 'close'],
  summary: 'Stop exposing a port',
  args: [requiredDock, portArgument],
  async run(context, input) {
    const port = portOf(input.arg('PORT'))
    const dock = await openDock(context, input.arg('DOCK'))
    await dock.closePort(port)
    context.out.result({ port, closed: true }, () => context.out.note(`Port ${port} is no longer exposed.`))
  },
}

const forwardSpec = (text: string): string => {
  const [local, remote, ...more] = text.split(':') as [string, ...string[]]
  if (more.length > 0)
    throw new UsageError(`${JSON.stringify(text)} is neither PORT nor LOCAL:PORT, for example 8080:80.`)
  return `127.0.0.1:${portOf(local)}:localhost:${portOf(remote ?? local)}`
}

const forward: Command = {
  path: ['forward'],
  summary: 'Bring ports of a Dock to this computer, until Ctrl-C',
  details:
    'PORT is the same on both sides; LOCAL:PORT are two. Only programs on this computer reach it. Needs ssh.',
  args: [requiredDock, { name: 'PORT', isMany: true }],
  isAroundCommand: true,
  examples: ['dock forward web 3000', 'dock forward web 8080:80 5432'],
  async run(context, input) {
    const specs = input.rest.map(forwardSpec)
    const [info, target] = await Promise.all([
      findDock(context, input.arg('DOCK')),
      context.client().then(readSshTarget),
    ])
    const more = ['-N', '-o', 'ExitOnForwardFailure=yes', ...specs.flatMap((spec) => ['-L', spec])]
    for (const spec of specs) {
      const [, local, , remote] = spec.split(':')
      context.out.note(`http://localhost:${local} is port ${remote} of ${info.name ?? info.id}.`)
    }
    const code = await runSsh(context.env, sshArguments(context.env, target, info.id, more))
    if (code === 255) await explainMissingKey(context)
    return code
  },
}

const open: Command = {
  path: ['open'],
  summary: 'Open an exposed port, or the dashboard, in a browser',
  details: 'Asks before it exposes a port that is not exposed yet.',
  args: [dockArgument, { name: 'PORT', isOptional: true }],
  async run(context, input) {
    const client = await context.client()
    const port = input.optional('PORT')
    let address: string
    if (input.optional('DOCK') === undefined) address = (await client.call('readConfig')).appUrl
    else {
      const dock = await openDock(context, input.optional('DOCK'))
      const ports = await dock.ports()
      const wanted = port === undefined ? ports[0]?.port : portOf(port)
      if (wanted === undefined) throw new UsageError('No port is exposed. Name one: dock open DOCK PORT')
      let entry = ports.find((each) => each.port === wanted)
      if (!entry) {
        // The address is public. Nobody should get one by looking.
        await context.confirm(
          `Port ${wanted} is not exposed. Expose it at a public address, as "dock port expose ${nameOf(dock)} ${wanted}" does?`,
        )
        entry = await explainStopped(dock, () => dock.port(wanted))
      }
      address = entry.url ?? ''
    }
    const page = webAddress(address)
    const isOpened = context.isInteractive && !context.out.isJson && (await openPage(page))
    context.out.result({ url: page, opened: isOpened }, () => context.out.line(page))
  },
}

export const portCommands: readonly Command[] = [forward, listPorts, expose, close, open]
