import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { awaitOrders } from './await-orders.ts'

const afterSignals = async (...names: string[]) => {
  const signals = new EventEmitter()
  const orders = awaitOrders(signals)
  signals.emit(names[0] ?? '')
  await orders.given
  for (const name of names.slice(1)) signals.emit(name)
  return orders.present
}

it('SIGTERM leaves the sandboxes running', async () => {
  expect(await afterSignals('SIGTERM')).toBe('leave')
})

it.each([[['SIGUSR2']], [['SIGINT']], [['SIGTERM', 'SIGUSR2']], [['SIGUSR2', 'SIGTERM']]])(
  '%j shuts the sandboxes down',
  async (names) => {
    expect(await afterSignals(...names)).toBe('shutdown')
  },
)
