/** The control: started as usual, agents are taken over by the repository. */
import { type AgentsProof, type RealAgent, turnMs } from './agents-proof.ts'
import { hostileFiles, unprotected } from './elsewhere.ts'

/** The files of the repository take over agents that are started as usual. */
export async function proveControls(
  { proof, elsewhere, environmentId }: AgentsProof,
  names: readonly RealAgent[],
): Promise<void> {
  const lines = names.map(
    (name) => `rm -f /tmp/*-ran; ${unprotected[name]}; ls -d /tmp/*-ran 2>/dev/null; echo "== ${name}"`,
  )
  const asked = await proof.ask(`${lines.join('\n')}\ntrue`, {
    settings: { environmentId },
    files: hostileFiles,
  })
  const run = await proof.until(asked, ['done', 'pr_opened'], turnMs)
  const log = await proof.world.readLog(run.id)
  const urls = (await elsewhere.requests()).map(({ url }) => url)
  for (const name of names) {
    const path = `/${name.replace('-code', '')}`
    const own =
      log
        .slice(0, log.indexOf(`== ${name}`))
        .split('\n== ')
        .at(-1) ?? ''
    const ran = own.match(/\S+-ran/g) ?? []
    const said = `${[...new Set(urls)].join(' ')}, ran: ${ran.join(' ')}, it said ${own.replaceAll('\n', ' ').slice(-300)}`
    proof.check(`control: started as usual, ${name} runs programs of the repository`, ran.length > 0, said)
    // Codex takes servers of tools from a repository, but no address of a model.
    if (name !== 'codex')
      proof.check(
        `control: started as usual, ${name} asks the address of the repository`,
        urls.some((url) => url.startsWith(path)),
        said,
      )
  }
  await elsewhere.forget()
  await proof.stop(run).catch(() => undefined)
  await proof.clear()
}
