/** A server with Runs, whose GitHub is the stand-in of the testkit. */
import type { CodingAgent, InstallationSettings, Run } from '@dock/contract'
import { freePort } from '@dock/testkit/src/free-port.ts'
import type { GithubRepository } from '@dock/testkit/src/github/github-world.ts'
import { linkInSession } from '@dock/testkit/src/github/linked-github.ts'
import { type Github, startGithub } from '@dock/testkit/src/github/start-github.ts'
import { newDataDir, removeDataDir, type Server, startServer } from './server.ts'
import { signIn } from './session.ts'

export type RunsWorld = {
  server: Server
  port: number
  github: Github
  /** `@` and the name of the App: how people call it. */
  mention: string
  /** Creates repositories with a README and these files, of one installation, and links them. `ada` administers them. */
  link(
    names: readonly string[],
    files?: Readonly<Record<string, string>>,
  ): Promise<{ installationId: string; repositories: GithubRepository[] }>
  /** Sets the agent, and how it works. */
  use(installationId: string, agent: CodingAgent, settings?: Partial<InstallationSettings>): Promise<void>
  /** Sets the agent `command` with this template. */
  configure(
    installationId: string,
    commandTemplate: string,
    settings?: Partial<InstallationSettings>,
  ): Promise<void>
  readRun(id: string): Promise<Run>
  listRuns(): Promise<Run[]>
  /** Returns the whole log of the current turn. */
  readLog(id: string): Promise<string>
  close(): Promise<void>
}

export async function startRunsWorld(environment: Record<string, string> = {}): Promise<RunsWorld> {
  const github = await startGithub()
  const port = await freePort()
  const { GITHUB_APP_PRIVATE_KEY = '' } = github.settings
  const server = await startServer(await newDataDir(), port, {
    ...github.settings,
    GITHUB_APP_PRIVATE_KEY: GITHUB_APP_PRIVATE_KEY.replaceAll('\n', '\\n'),
    ...environment,
  })
  const { client, admin } = server
  const { workspaceId } = admin
  github.world.app.hookUrl = `${admin.baseUrl}/v1/github/events`
  const session = await signIn(admin)
  const use: RunsWorld['use'] = async (id, agent, settings = {}) => {
    const where = { params: { id }, query: { workspaceId } }
    await client.call('updateInstallation', { ...where, body: { agent } })
    await client.call('updateInstallationSettings', { ...where, body: settings })
  }
  return {
    ...{ server, port, github, mention: `@${github.world.app.slug}`, use },
    link: async (names, files = {}) => {
      const repositories = names.map((name) => github.world.addRepository(name, { ada: 'admin' }))
      for (const each of repositories) await github.git.create(each, { README: 'one\n', ...files })
      github.world.install(...repositories)
      const installationId = await linkInSession(
        (path, body) => session('POST', path, body),
        { github, workspaceId, login: 'ada' },
        ...repositories,
      )
      return { installationId, repositories }
    },
    configure: (id, commandTemplate, settings = {}) => use(id, 'command', { commandTemplate, ...settings }),
    readRun: (id) => client.call('readRun', { params: { id }, query: {} }),
    listRuns: () => client.call('listRuns', { query: { workspaceId } }),
    readLog: async (id) => {
      let text = ''
      for (let offset = 0; ; ) {
        const part = await client.call('readRunLog', { params: { id }, query: { offset } })
        text += part.text
        if (part.nextOffset === offset) return text
        offset = part.nextOffset
      }
    },
    close: async () => {
      await server.interrupt()
      await github.close()
      await removeDataDir(server.dataDir)
    },
  }
}
