import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

/** A list of actions that `trigger`, a button, opens. */
export function Menu({ trigger, children }: { trigger: ReactNode; children: ReactNode }) {
  return (
    // A modal menu would hide the page from screen readers while its controls can still take the focus.
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-30 min-w-44 max-w-[calc(100vw-1rem)] animate-appear rounded-lg border border-line bg-panel p-1 shadow-float"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

export const menuItemClass =
  'flex cursor-pointer items-center gap-2 rounded-md px-2.5 py-1.5 text-sm outline-none data-[disabled]:cursor-not-allowed data-[highlighted]:bg-raised data-[disabled]:opacity-60'

/** An action of a menu. */
export function MenuItem(props: {
  danger?: boolean
  disabled?: boolean
  onSelect: () => void
  children: ReactNode
}) {
  return (
    <Radix.Item
      disabled={props.disabled}
      onSelect={props.onSelect}
      className={`${menuItemClass} ${props.danger ? 'text-bad' : ''}`}
    >
      {props.children}
    </Radix.Item>
  )
}

export function MenuSeparator() {
  return <Radix.Separator className="my-1 h-px bg-line" />
}
