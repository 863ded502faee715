/**
 * Columns whose values are narrower than their type in the database says. Whether a column may be null and has a default is
 * not repeated here. Columns with a list of values in a `check` constraint need no entry, unless the contract names the list.
 */

/** Where the generated file imports types from. */
export const typeSources: Readonly<Record<string, readonly string[]>> = {
  '@dock/contract': [
    'AlertType',
    'DeliveredEventType',
    'DockState',
    'KeyProvider',
    'Role',
    'RunEventType',
    'RunState',
    'RuntimeName',
    'WebhookEventType',
  ],
  kysely: ['ColumnType', 'Generated', 'GeneratedAlways'],
  './column-types.ts': ['GatheredAlerts'],
}

/** Types by `table.column`. For a JSON column: what it is read as. */
export const narrowTypes: Readonly<Record<string, string>> = {
  'dock_events.dock_state': 'DockState',
  'dock_state_changes.from_state': 'DockState',
  'dock_state_changes.to_state': 'DockState',
  'docks.runtime': 'RuntimeName',
  'docks.state': 'DockState',
  'github_installation_settings.execution_target': "'dock' | 'fast'",
  'hosts.runtime': 'RuntimeName',
  'invitations.role': 'Role',
  'memberships.role': 'Role',
  'notifications.type': 'AlertType',
  'organization_alert_settings.type': 'AlertType',
  'outbox_mails.alert_type': 'AlertType',
  'outbox_mails.gathered': 'GatheredAlerts',
  'personal_alert_settings.type': 'AlertType',
  'provider_keys.provider': 'KeyProvider',
  'run_events.type': 'RunEventType',
  'run_machines.runtime': 'RuntimeName',
  'runs.state': 'RunState',
  'snapshots.runtime': 'RuntimeName',
  'templates.runtime': 'RuntimeName',
  // Open spans end at infinity.
  'usage_spans.until_at': 'Date | number',
  'webhook_attempts.event': 'DeliveredEventType',
  'webhook_deliveries.dock_state': 'DockState',
  'webhook_deliveries.event': 'DeliveredEventType',
  'webhook_endpoints.events': 'WebhookEventType[]',
}
