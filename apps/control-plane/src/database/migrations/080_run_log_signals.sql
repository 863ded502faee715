-- Readers of a Run's log wait for it to grow (decision 135): pages by the live stream, other clients at the route of the
-- log. Only admins read logs, so only they learn of it.
create function note_run_log(run uuid) returns void language plpgsql as $$
begin
  perform note_live_change(r.organization_id, null, true, 'run_log', r.id::text, r.dock_id) from runs r where r.id = run;
  perform pg_notify('run_logs', run::text);
end $$;

create function note_run_log_grown() returns trigger language plpgsql as $$
begin
  perform note_run_log(t.run_id) from run_turns t where t.id = new.turn_id;
  return null;
end $$;
create trigger run_logs_live after insert on run_logs for each row execute function note_run_log_grown();

-- The end of the turn, or of a Run that no turn works for, is the end of the log.
create function note_run_log_ended() returns trigger language plpgsql as $$
begin
  perform note_run_log(new.run_id);
  return null;
end $$;
create trigger run_turns_log_ended after update of ended_at on run_turns for each row
  when (old.ended_at is distinct from new.ended_at) execute function note_run_log_ended();

create function note_run_log_of_run() returns trigger language plpgsql as $$
begin
  perform note_run_log(new.id);
  return null;
end $$;
create trigger runs_log_ended after update of state on runs for each row
  when (old.state is distinct from new.state) execute function note_run_log_of_run();
