import { Link } from '@tanstack/react-router'
import { buttonClass } from './button.tsx'
import { Empty } from './empty.tsx'

/** Says to a person who is in no organization what to do first. `subject` is what the page lists, and begins a sentence: `Docks`. */
export function NoOrganization({ subject }: { subject: string }) {
  return (
    <Empty
      title="You are in no organization yet"
      text={`${subject} belong to an organization. Make one for yourself, or accept an invitation to another.`}
    >
      <Link to="/organizations" className={buttonClass('primary')}>
        Organizations
      </Link>
    </Empty>
  )
}
