/**
 * The host agent. SIGTERM ends it and leaves the sandboxes running for the next agent to adopt; SIGUSR2 and SIGINT end
 * the sandboxes in order first. Exit codes: 0 ended by order, 78 configuration or machine at fault, 1 anything else.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compileOnly, createLogger } from '@dock/foundation'
import { readAgentSettings } from './agent-settings.ts'
import { composeAgent } from './composition.ts'
import { createCredentialFile } from './link/credential-file.ts'
import { keepLinked } from './link/keep-linked.ts'

const unusableExitCode = 78
const logger = createLogger('host-agent')

type Order = 'leave' | 'shutdown'

/** The first order; a shutdown overrules a leave that came before it only while nothing has been done yet. */
const awaitOrder = (): Promise<Order> =>
  new Promise((resolve) => {
    process.on('SIGTERM', () => resolve('leave'))
    process.on('SIGUSR2', () => resolve('shutdown'))
    process.on('SIGINT', () => resolve('shutdown'))
  })

const compose = async () => {
  try {
    const settings = readAgentSettings(process.env)
    return { settings, agent: await composeAgent(settings, logger) }
  } catch (error) {
    logger.fatal({ err: error }, 'the agent cannot work here')
    process.exit(unusableExitCode)
  }
}

const run = async (): Promise<void> => {
  const ordered = awaitOrder()
  // When memory runs out, a tenant's process is the one to go.
  await writeFile('/proc/self/oom_score_adj', '-800').catch(() => undefined)
  const { settings, agent } = await compose()
  await agent.recover()
  agent.watch()
  const ended = new AbortController()
  const link = keepLinked({
    url: settings.controlUrl,
    joinTokenFile: settings.joinTokenFile,
    credentials: createCredentialFile(join(settings.hostFolder, 'credential.json')),
    facts: agent.facts,
    handler: (request) => agent.app.fetch(request),
    connect: agent.connect,
    signal: ended.signal,
    logger,
  })
  logger.info({ hostFolder: settings.hostFolder }, 'host agent ready')
  const order = await Promise.race([ordered, link.then(() => 'leave' as const)])
  logger.info({ order }, 'host agent ends')
  ended.abort()
  await link.catch(() => undefined)
  if (order === 'shutdown') await agent.shutdown()
}

if (!compileOnly) {
  try {
    await run()
    process.exit(0)
  } catch (error) {
    logger.fatal({ err: error }, 'host agent failed')
    process.exit(1)
  }
}
