import type { DockInfo } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { configQuery } from '../../api/queries.ts'
import { CopyLine } from '../../components/copy-line.tsx'

/** A name that needs no quotes in a shell. Others are reached by their id. */
const plainName = /^[a-z0-9][a-z0-9-]*$/

/** Lines for SSH, editors and programs. */
export function ConnectTab({ dock }: { dock: DockInfo }) {
  const { data: config } = useQuery(configQuery)
  const name = dock.name !== null && plainName.test(dock.name) ? dock.name : dock.id
  const ssh = config?.ssh
  const user = `${dock.id}@${ssh?.host}`
  return (
    <div className="grid gap-5">
      {ssh ? (
        <section className="grid gap-3" aria-label="SSH and editors">
          <h2 className="m-0 text-sm font-semibold">SSH and editors</h2>
          <p className="m-0 text-sm text-muted">They need an SSH key in your account.</p>
          <CopyLine label="Shell" text={`ssh -p ${ssh.port} ${user}`} />
          <CopyLine
            label="Copy a folder into the Dock"
            text={`scp -r -P ${ssh.port} ./folder ${user}:work/`}
          />
          <CopyLine
            label="VS Code"
            text={`code --folder-uri vscode-remote://ssh-remote+${user}:${ssh.port}/home/user/work`}
          />
          <CopyLine
            label="Cursor"
            text={`cursor --folder-uri vscode-remote://ssh-remote+${user}:${ssh.port}/home/user/work`}
          />
          <CopyLine label="Zed" text={`zed ssh://${user}:${ssh.port}/home/user/work`} />
        </section>
      ) : (
        <p className="m-0 text-sm text-muted">The SSH gateway of this service is off.</p>
      )}
      <section className="grid gap-3" aria-label="Programs">
        <h2 className="m-0 text-sm font-semibold">Command line and programs</h2>
        <CopyLine label="Command line" text={`dock shell ${name}`} />
        <CopyLine
          label="curl"
          text={`curl -H "authorization: Bearer $DOCK_API_KEY" -H 'content-type: application/json' ${location.origin}/v1/docks/${dock.id}/exec -d '{"command":"uname -a"}'`}
        />
      </section>
    </div>
  )
}
