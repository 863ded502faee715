import type { DockInfo } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { sshKeysQuery } from '../../api/people-queries.ts'
import { configQuery } from '../../api/queries.ts'
import { Notice } from '../../components/alert.tsx'
import { CopyLine } from '../../components/copy-line.tsx'
import { Facts, Panel } from '../../components/page.tsx'

/** A name that needs no quotes in a shell. Others are reached by their id. */
const plainName = /^[a-z0-9][a-z0-9-]*$/

/** Lines for SSH, editors and programs. */
export function ConnectTab({ dock }: { dock: DockInfo }) {
  const { data: config } = useQuery(configQuery)
  const name = dock.name !== null && plainName.test(dock.name) ? dock.name : dock.id
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <Panel
        title="Command line"
        text={
          <>
            Sign in once: a browser opens, and you confirm the code that the command shows. How to install it
            is in <Documentation page="cli" name="the documentation" />.
          </>
        }
      >
        <CopyLine label="Sign in this computer" text={`dock login ${location.origin}`} />
        <CopyLine label="Open a shell in this Dock" text={`dock shell ${name}`} />
      </Panel>
      {config && <Editors dock={dock} name={name} ssh={config.ssh} />}
      <Panel
        title="Programs"
        text={
          <>
            With an <KeysLink tab="api">API key</KeysLink> in the variable DOCK_API_KEY.
          </>
        }
      >
        <CopyLine
          label="curl"
          text={`curl -H "authorization: Bearer $DOCK_API_KEY" -H 'content-type: application/json' ${location.origin}/v1/docks/${dock.id}/exec -d '{"command":"uname -a"}'`}
        />
      </Panel>
    </div>
  )
}

function Documentation({ page, name }: { page: string; name: string }) {
  return (
    <a href={`/docs/${page}/`} target="_blank" rel="noreferrer" className="text-accent underline">
      {name}
    </a>
  )
}

function KeysLink({ tab, children }: { tab: 'api' | 'ssh'; children: ReactNode }) {
  return (
    <Link to="/keys" search={{ tab }} className="text-accent underline">
      {children}
    </Link>
  )
}

function Editors(props: { dock: DockInfo; name: string; ssh: { host: string; port: number } | null }) {
  const { dock, name, ssh } = props
  const keys = useQuery(sshKeysQuery)
  if (!ssh) return <Panel title="SSH and editors" text="The operator of this service has turned SSH off." />
  const user = `${dock.id}@${ssh.host}`
  return (
    <Panel
      title="SSH and editors"
      text="From every computer whose SSH key is in your account. Editors need their extension for remote work over SSH."
    >
      {keys.data?.length === 0 && (
        <Notice tone="wait">
          <p className="m-0">
            Your account has no SSH key yet, so these lines are refused.{' '}
            <KeysLink tab="ssh">Add one</KeysLink> first.
          </p>
        </Notice>
      )}
      <CopyLine label="Shell" text={`ssh -p ${ssh.port} ${user}`} />
      <CopyLine
        label="VS Code"
        text={`code --folder-uri vscode-remote://ssh-remote+${user}:${ssh.port}/home/user/work`}
      />
      <CopyLine
        label="Cursor"
        text={`cursor --folder-uri vscode-remote://ssh-remote+${user}:${ssh.port}/home/user/work`}
      />
      <CopyLine label="Zed" text={`zed ssh://${user}:${ssh.port}/home/user/work`} />
      <CopyLine label="Copy a folder into the Dock" text={`scp -r -P ${ssh.port} ./folder ${user}:work/`} />
      <div className="grid gap-2">
        <h3 className="m-0 text-sm font-medium">JetBrains</h3>
        <p className="m-0 text-sm text-muted">
          In Gateway, or in the IDE under File → Remote Development → SSH, make a connection with your key.
          Give the Dock at least 4 GiB of memory.
        </p>
        <Facts
          facts={[
            ['Host', ssh.host],
            ['Port', ssh.port],
            ['User name', dock.id],
          ]}
        />
      </div>
      <p className="m-0 text-sm text-muted">
        Shorter: after <code className="font-mono text-xs">dock config-ssh</code> every tool that reads
        ~/.ssh/config finds it as <code className="font-mono text-xs">{name}.dock</code>. More in{' '}
        <Documentation page="ssh" name="the documentation" />.
      </p>
    </Panel>
  )
}
