/**
 * The host agent. SIGTERM ends the agent and leaves the sandboxes running for the next agent to adopt. SIGUSR2 and SIGINT
 * shut the sandboxes down first, even if SIGTERM came before: a service manager may send that to every process before the
 * supervisor can order the shutdown. Exit codes: 0 ended by a signal, 78 invalid settings or unsuitable machine, 1 other
 * errors.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compileOnly, createLogger, guardProcess, logConsole } from '@dock/foundation'
import { HostUnreachable } from '@dock/host-protocol'
import { readAgentSettings } from './agent-settings.ts'
import { awaitOrders } from './await-orders.ts'
import { composeAgent } from './composition.ts'
import { AgentRefusal } from './sandboxes/agent-refusal.ts'
import { createCredentialFile } from './server/link/credential-file.ts'
import { keepLinked } from './server/link/keep-linked.ts'

const unusableExitCode = 78
const logger = createLogger('host-agent')

const compose = async () => {
  try {
    const settings = readAgentSettings(process.env)
    return { settings, agent: await composeAgent(settings, logger) }
  } catch (error) {
    logger.fatal({ err: error }, 'the agent cannot run on this machine')
    process.exit(unusableExitCode)
  }
}

const run = async (): Promise<void> => {
  const orders = awaitOrders(process)
  const broken = Promise.withResolvers<void>()
  logConsole(logger)
  guardProcess({ logger, streamErrors: [AgentRefusal, HostUnreachable], leave: () => broken.resolve() })
  // When memory runs out, the kernel should kill a tenant's process rather than the agent.
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
  const reason = await Promise.race([
    ...[orders.given, link].map((end) => end.then(() => 'order' as const)),
    agent.poolIsReadOnly.then(() => 'read-only' as const),
    broken.promise.then(() => 'uncaught error' as const),
  ])
  logger.info({ order: orders.present, reason }, 'host agent is stopping')
  ended.abort()
  await link.catch(() => undefined)
  if (orders.present === 'shutdown') await agent.shutdown()
  else if (reason === 'read-only')
    throw new Error('the disk pool is read-only: the next agent mounts it again')
  else if (reason === 'uncaught error')
    throw new Error('an uncaught error: the next agent adopts the sandboxes')
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
