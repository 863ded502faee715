/** What each kind of alert is called, and when it is sent. */
import type { NotificationPreference } from '@dock/sdk'

export const alertTexts: Readonly<
  Record<NotificationPreference['type'], Readonly<{ title: string; text: string }>>
> = {
  stopped_responding: {
    title: 'A Dock is unreachable',
    text: 'The host of a running Dock went silent, or its machine ended.',
  },
  stop_refused: {
    title: 'A Dock could not be stopped',
    text: 'Its disk could not be captured, so it keeps running.',
  },
  disk_warning: { title: 'A disk is filling up', text: 'A Dock has used most of its disk.' },
  disk_full: { title: 'A disk is full', text: 'Programs in the Dock can no longer write.' },
  auto_recovered: { title: 'A Dock was started again', text: 'It failed, and Dock booted it again.' },
  held_after_loss: {
    title: 'A Dock is held after a loss',
    text: 'It failed too often, or its disk is missing, and waits for you.',
  },
}
