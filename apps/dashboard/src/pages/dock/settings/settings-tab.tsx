import type { DockInfo } from '@dock/sdk'
import { useState } from 'react'
import { Panel } from '../../../components/page.tsx'
import { RefusableButton } from '../../../components/refusable-button.tsx'
import { useDockRights } from '../../../lib/dock-rights.ts'
import { DeleteDockDialog } from '../delete-dock-dialog.tsx'
import { BranchForm } from './branch-form.tsx'
import { EnvironmentForm } from './environment-form.tsx'
import { FreezeForm } from './freeze-form.tsx'
import { NameAndTimerForm } from './name-and-timer-form.tsx'
import { SizeForm } from './size-form.tsx'

/** What can be changed about a Dock, and what can be made from it. */
export function SettingsTab({ dock }: { dock: DockInfo }) {
  const [asksDelete, setAsksDelete] = useState(false)
  const rights = useDockRights(dock.id)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-2 min-[2000px]:grid-cols-3">
      <Panel title="Name and timer" text="The name is how the command line and SSH find it.">
        <NameAndTimerForm dock={dock} />
      </Panel>
      <Panel
        title="Size"
        text="A disk grows and does not shrink. The size changes while the Dock is stopped."
      >
        <SizeForm dock={dock} />
      </Panel>
      <Panel
        title="Environment"
        text="It gives the Dock its variables, secret files and repositories. A new version reaches Docks by an upgrade."
      >
        <EnvironmentForm dock={dock} />
      </Panel>
      <Panel
        title="Branch"
        text="A copy of the Dock with the same files and its own name. This Dock goes on meanwhile."
      >
        <BranchForm dock={dock} />
      </Panel>
      <Panel
        title="Freeze as Template"
        text="New Docks of the organization start from its disk as it is now. A Template of the same name is replaced."
      >
        <FreezeForm dock={dock} refusal={rights.freeze} />
      </Panel>
      <Panel danger title="Delete" text="The disk and all Snapshots of this Dock are lost.">
        <div>
          <RefusableButton
            look="danger"
            refusal={rights.delete}
            disabled={rights.isPending}
            onClick={() => setAsksDelete(true)}
          >
            Delete this Dock
          </RefusableButton>
        </div>
        <DeleteDockDialog dock={dock} open={asksDelete} onClose={() => setAsksDelete(false)} />
      </Panel>
    </div>
  )
}
