/** A fake git provider with a public address, in a separate network namespace behind a router. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { certificatePaths, makeCertificate } from '@dock/testkit/src/make-certificate.ts'
import { createOutside } from './outside.ts'

const exec = promisify(execFile)
/** From a range for documentation (RFC 5737): unused, but not private, so Docks may reach it. */
const address = '198.51.100.88'
const port = 8088

const url = `https://${address}:${port}`

/** Creates a folder with the provider's certificate, and the settings for a server that uses the provider. */
export async function prepareGitProvider(): Promise<{
  folder: string
  settings: Record<string, string>
}> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-git-tls-'))
  await chmod(folder, 0o755)
  const { authority } = await makeCertificate(folder, address)
  return {
    folder,
    settings: {
      ...{ GITHUB_URL: url, GITHUB_CLIENT_ID: 'app', GITHUB_CLIENT_SECRET: 'of-the-app' },
      ...{ GITLAB_URL: url, GITLAB_CLIENT_ID: 'lab', GITLAB_CLIENT_SECRET: 'of-the-lab' },
      NODE_EXTRA_CA_CERTS: authority,
    },
  }
}

export type GitProvider = {
  url: string
  /** The certificate of the provider's certificate authority. */
  authority: string
  /** Runs git in a bare repository. */
  git(repository: string, ...args: string[]): Promise<string>
  close(): Promise<void>
}

/** Creates a bare repository with a commit on `main` and another on `work`. */
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

/** Starts a provider with these repositories and the prepared certificate. Needs root. */
export async function startGitProvider(
  tlsFolder: string,
  repositories: readonly string[],
): Promise<GitProvider> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-git-'))
  await chmod(folder, 0o755)
  for (const name of repositories) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await makeRepository(folder, name)
  }
  const outside = await createOutside(88, [address])
  const { authority, key, certificate } = certificatePaths(tlsFolder)
  const program = new URL('git-provider-program.ts', import.meta.url).pathname
  await outside.start(process.execPath, program, address, String(port), folder, key, certificate)
  return {
    url,
    authority: await readFile(authority, 'utf8'),
    git: async (repository, ...args) =>
      (await exec('git', ['-C', join(folder, `${repository}.git`), ...args])).stdout,
    close: async () => {
      await outside.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
