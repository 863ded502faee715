-- Finds the latest stop of a Dock among its many changes between ready, running and idle.
create index dock_state_changes_stops on dock_state_changes (dock_id, id)
  where to_state in ('archiving', 'archived', 'error', 'unreachable');
