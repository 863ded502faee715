/** A provider of repositories as Docks see one: a public address behind a router, in a network namespace of its own. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createOutside } from './outside.ts'

const exec = promisify(execFile)
/** Of a range for documentation: nobody's, and not private, so that Docks may reach it. */
const address = '198.51.100.88'
const port = 8088

/** What a server is told of it. */
export const gitProviderSettings = {
  ...{ GITHUB_URL: `http://${address}:${port}`, GITHUB_CLIENT_ID: 'app', GITHUB_CLIENT_SECRET: 'of-the-app' },
}

export type GitProvider = {
  url: string
  /** Runs git over a bare repository. */
  git(repository: string, ...args: string[]): Promise<string>
  close(): Promise<void>
}

/** A bare repository with a commit on `main` and another on `work`. */
const makeRepository = async (folder: string, name: string): Promise<void> => {
  const bare = join(folder, `${name}.git`)
  const tree = await mkdtemp(join(tmpdir(), 'dock-git-tree-'))
  const git = (...args: string[]) =>
    exec('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test', '-C', tree, ...args])
  await git('init', '--quiet', '--initial-branch=main')
  await writeFile(join(tree, 'README'), `${name} on main\n`)
  await git('add', '.')
  await git('commit', '--quiet', '-m', 'first')
  await git('checkout', '--quiet', '-b', 'work')
  await writeFile(join(tree, 'README'), `${name} on work\n`)
  await git('commit', '--quiet', '-am', 'second')
  await git('checkout', '--quiet', 'main')
  await exec('git', ['clone', '--quiet', '--bare', tree, bare])
  await rm(tree, { recursive: true })
}

/** Starts it with these repositories. Needs root. */
export const startGitProvider = async (repositories: readonly string[]): Promise<GitProvider> => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-git-'))
  await chmod(folder, 0o755)
  for (const name of repositories) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await makeRepository(folder, name)
  }
  const outside = await createOutside(88, [address])
  const program = new URL('git-provider-program.ts', import.meta.url).pathname
  await outside.start(process.execPath, program, address, String(port), folder)
  return {
    url: gitProviderSettings.GITHUB_URL,
    git: async (repository, ...args) =>
      (await exec('git', ['-C', join(folder, `${repository}.git`), ...args])).stdout,
    close: async () => {
      await outside.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
