import { DropdownMenu } from 'radix-ui'

export type MenuItem =
  | { label: string; isDanger?: boolean; onSelect: () => void }
  | { label: string; href: string }

const look =
  'block cursor-pointer rounded px-3 py-1.5 text-sm text-ink no-underline outline-none data-[highlighted]:bg-raised'

/** A button that opens a short list of actions. */
export function Menu({ label, items }: { label: string; items: readonly MenuItem[] }) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger
        aria-label={label}
        className="size-8 shrink-0 cursor-pointer rounded-md text-muted hover:bg-raised hover:text-ink"
      >
        ⋯
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          className="z-10 min-w-36 rounded-lg border border-line bg-panel p-1 shadow-xl"
        >
          {items.map((item) =>
            'href' in item ? (
              <DropdownMenu.Item key={item.label} asChild className={look}>
                <a href={item.href} download>
                  {item.label}
                </a>
              </DropdownMenu.Item>
            ) : (
              <DropdownMenu.Item
                key={item.label}
                onSelect={item.onSelect}
                className={`${look} ${item.isDanger ? 'text-bad' : ''}`}
              >
                {item.label}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
