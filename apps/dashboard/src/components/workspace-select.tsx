import type { WorkspaceChoice } from '../api/use-workspaces.ts'
import { OptionSelect } from './option-select.tsx'

/** The choice of a workspace, for people who have several. */
export function WorkspaceSelect(props: {
  workspaces: readonly WorkspaceChoice[]
  workspace: WorkspaceChoice | undefined
  onChoose: (id: string) => void
}) {
  const { workspaces, workspace, onChoose } = props
  if (workspaces.length < 2 || !workspace) return null
  return (
    <OptionSelect
      label="Workspace"
      isLabelHidden
      className="w-full sm:w-64"
      value={workspace.id}
      options={workspaces.map(({ id, label }) => ({ value: id, label }))}
      onChange={onChoose}
    />
  )
}
