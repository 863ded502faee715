import type { ComponentProps } from 'react'
import { Button } from './button.tsx'
import { Tooltip } from './tooltip.tsx'

/** A button that does nothing while `refusal` says why it may not be used. The reason is in its tooltip. */
export function RefusableButton({
  refusal,
  disabled = false,
  ...props
}: ComponentProps<typeof Button> & { refusal: string | undefined }) {
  if (refusal === undefined) return <Button {...props} disabled={disabled} />
  return (
    <Tooltip text={refusal}>
      <Button {...props} disabled aria-description={refusal} />
    </Tooltip>
  )
}
