import type { Organization } from '@dock/sdk'
import { OptionSelect } from '../../components/option-select.tsx'
import { rememberOrganization } from '../../lib/chosen-organization.ts'

/** Switches a page between organizations; nothing if there is only one. */
export function OrganizationSelect(props: {
  organizations: readonly Organization[] | undefined
  chosen: Organization | undefined
  onChoose: (id: string) => void
}) {
  const { organizations = [], chosen } = props
  if (!chosen || organizations.length < 2) return null
  return (
    <OptionSelect
      label="Show another organization"
      isLabelHidden
      className="w-48"
      value={chosen.id}
      options={organizations.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={(id) => {
        rememberOrganization(id)
        props.onChoose(id)
      }}
    />
  )
}
