import { Ellipsis } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { IconButton } from './button.tsx'
import { Menu, MenuItem, menuItemClass } from './menu.tsx'

export type RowMenuItem =
  | { label: string; isDanger?: boolean; onSelect: () => void }
  | { label: string; href: string }

/** A small button of a row that opens its actions. An item with `href` downloads what it leads to. */
export function RowMenu({ label, items }: { label: string; items: readonly RowMenuItem[] }) {
  const trigger = (
    <IconButton label={label}>
      <Ellipsis size={16} aria-hidden="true" />
    </IconButton>
  )
  return (
    <Menu trigger={trigger}>
      {items.map((item) =>
        'href' in item ? (
          <DropdownMenu.Item key={item.label} asChild className={`${menuItemClass} no-underline text-ink`}>
            <a href={item.href} download>
              {item.label}
            </a>
          </DropdownMenu.Item>
        ) : (
          <MenuItem key={item.label} danger={item.isDanger ?? false} onSelect={item.onSelect}>
            {item.label}
          </MenuItem>
        ),
      )}
    </Menu>
  )
}
