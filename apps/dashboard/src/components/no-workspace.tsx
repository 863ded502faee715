import { Empty } from './empty.tsx'

/** Says that the workspace of the address cannot be shown. */
export function NoWorkspace() {
  return (
    <Empty
      title="There is no such workspace"
      text="It was deleted, or you are not a member of its organization. Choose another one above."
    />
  )
}
