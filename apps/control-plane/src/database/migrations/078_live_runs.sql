-- Pages about Runs and installations follow changes (decision 128). A word on a timeline comes with nearly every change of
-- a Run; its Dock and its target can change without one.
create trigger runs_live after update of state, dock_id, execution_target on runs for each row
  when ((old.state, old.dock_id, old.execution_target) is distinct from (new.state, new.dock_id, new.execution_target))
  execute function note_live_object('run');

create function note_live_run_events() returns trigger language plpgsql as $$
begin
  perform note_live_change(r.organization_id, null, false, 'run', r.id::text, null)
    from runs r where r.id in (select run_id from made);
  return null;
end $$;
create trigger run_events_live after insert on run_events referencing new table as made
  for each statement execute function note_live_run_events();

create trigger github_installations_live after insert or update or delete on github_installations for each row
  execute function note_live_object('installation');
