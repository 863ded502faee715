/** WebSockets: terminals of Docks, and the paths of hosts without a credential. */
import { dialBackPath, dialBackProtocol } from '@dock/host-protocol'
import type { Random } from './random.ts'
import type { RawRequest } from './raw-request.ts'
import { httpTarget, type Target } from './target.ts'
import { brokenFrame, frameOf, opcodes, upgradeHeaders } from './web-socket-frames.ts'
import type { World } from './world.ts'

const typed = [
  'ls -l /usr/bin\r',
  'seq 30000\r',
  'cat /dev/urandom | head -c 500000\r',
  'exit\r',
  '\x03',
  'x'.repeat(60_000),
]

const frame = (random: Random): Buffer => {
  const kind = random.below(10)
  if (kind < 5) return frameOf(opcodes.binary, random.pick(typed))
  if (kind < 7)
    return frameOf(
      opcodes.text,
      JSON.stringify({ type: 'resize', cols: 1 + random.below(300), rows: 1 + random.below(99) }),
    )
  if (kind < 8) return frameOf(opcodes.ping, 'there?')
  return random.pick([
    frameOf(opcodes.close, Buffer.from([3, 232])),
    frameOf(opcodes.text, '{"type":'),
    brokenFrame(random),
  ])
}

const terminal = async (world: World, random: Random): Promise<RawRequest> => {
  const { id, shell } = random.pick(world.machines)
  const { client } = world.server
  const { ticket } = await (random.chance(0.4)
    ? client.call('openProcessTerminal', { params: { id, pid: shell }, body: {} })
    : client.call('openTerminal', { params: { id } }))
  return {
    ...{
      method: 'GET',
      path: `/v1/docks/${id}/terminal?ticket=${ticket}`,
      headers: upgradeHeaders,
      isEndless: true,
    },
    frames: Array.from({ length: random.below(5) }, () => frame(random)),
  }
}

const stranger = (world: World, random: Random): RawRequest => ({
  method: random.pick(['GET', 'GET', 'GET', 'POST']),
  path: random.pick([
    ...['/v1/fleet/connect', '/v1/fleet/connect?channel=bulk', dialBackPath, '/v1/docks'],
    `/v1/docks/${world.machines[0]!.id}/terminal?ticket=none`,
  ]),
  headers: {
    ...upgradeHeaders,
    ...(random.chance(0.3) ? { upgrade: random.pick([dialBackProtocol, 'h2c', 'websocket, x']) } : {}),
    ...(random.chance(0.3) ? { authorization: 'Bearer nobody', 'x-dock-ticket': 'none' } : {}),
  },
  frames: [brokenFrame(random)],
  // Not all are refused: some are served as if nothing else were asked for, and the connection is kept.
  isEndless: true,
})

export const upgradeTargets: readonly Target[] = [
  httpTarget({
    ...{ name: 'terminal', weight: 3, routes: ['connectTerminal'], atOnceMax: 3 },
    request: terminal,
  }),
  httpTarget({ name: 'upgrades of strangers', weight: 2, request: stranger }),
]
