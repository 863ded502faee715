import type { DockInfo } from '@dock/sdk'
import { Link } from '@tanstack/react-router'
import { buttonClass } from '../../components/button.tsx'
import { Empty } from '../../components/empty.tsx'
import type { DockTab } from './dock-tabs.ts'

type Told = { title: string; text: string; link?: { tab: DockTab; label: string } }

const toldOf = (state: DockInfo['state'], need: string): Told => {
  switch (state) {
    case 'archived':
      return {
        title: 'This Dock is stopped',
        text: `Its disk is kept. Resume it to ${need}, or look into its Snapshots without that.`,
        link: { tab: 'snapshots', label: 'Its Snapshots' },
      }
    case 'error':
      return {
        title: 'This Dock has failed',
        text: 'Stop it to save its disk as a Snapshot, then resume it.',
        link: { tab: 'timeline', label: 'What happened' },
      }
    case 'unreachable':
      return {
        title: 'This Dock is unreachable',
        text: 'Its disk stays where it is. The Dock goes on when its host is back, and is not started elsewhere.',
        link: { tab: 'timeline', label: 'What happened' },
      }
    case 'archiving':
      return { title: 'This Dock is stopping', text: 'Its disk is being saved as a Snapshot.' }
    default:
      return { title: 'This Dock is starting', text: `In a moment you can ${need}.` }
  }
}

/** What stands in the place of a part that only a Dock that is on has. `need` completes “Resume it to …”. */
export function DockOff({ dock, need }: { dock: DockInfo; need: string }) {
  const { title, text, link } = toldOf(dock.state, need)
  return (
    <Empty title={title} text={text}>
      {link && (
        <Link to="/docks/$id" params={{ id: dock.id }} search={{ tab: link.tab }} className={buttonClass()}>
          {link.label}
        </Link>
      )}
    </Empty>
  )
}
