-- Live changes of hosts, the quarantine and plans, and of parts of Runs and installations. Decision 123 says which changes
-- of a host count.

-- The instance admin who decided in the dashboard. No foreign key: the decision outlives the account.
alter table quarantine add column decided_by uuid;

-- Heartbeats write free memory and free disk every few seconds. They count in steps of a twentieth.
create function twentieths(part bigint, whole bigint) returns integer language sql immutable as
  $$select (part::numeric * 20 / nullif(whole, 0))::integer$$;
drop trigger hosts_live_changed on hosts;
create trigger hosts_live_changed after update of state, address, images, is_builder, runtime, cpu_family, kernel,
    kernel_release, vcpu_total, mem_total_bytes, disk_total_bytes, max_docks, running_docks, orphans, lost_at,
    declared_lost_at, mem_available_bytes, disk_free_bytes on hosts for each row
  when ((old.state, old.address, old.images, old.is_builder, old.runtime, old.cpu_family, old.kernel,
      old.kernel_release, old.vcpu_total, old.mem_total_bytes, old.disk_total_bytes, old.max_docks, old.running_docks,
      old.orphans, old.lost_at, old.declared_lost_at, twentieths(old.mem_available_bytes, old.mem_total_bytes),
      twentieths(old.disk_free_bytes, old.disk_total_bytes))
    is distinct from (new.state, new.address, new.images, new.is_builder, new.runtime, new.cpu_family, new.kernel,
      new.kernel_release, new.vcpu_total, new.mem_total_bytes, new.disk_total_bytes, new.max_docks, new.running_docks,
      new.orphans, new.lost_at, new.declared_lost_at, twentieths(new.mem_available_bytes, new.mem_total_bytes),
      twentieths(new.disk_free_bytes, new.disk_total_bytes)))
  execute function note_live_host();

-- For lists that instance admins alone see. The page reads the list again, so the change names no object of it.
create function note_live_for_instance() returns trigger language plpgsql as $$
begin
  perform note_live_change(null, null, true, tg_argv[0], '', null);
  return null;
end $$;
create trigger quarantine_live after insert or update or delete on quarantine for each row
  execute function note_live_for_instance('quarantine');
create trigger organizations_live_made after insert on organizations for each row
  execute function note_live_for_instance('plan');
create trigger organizations_live_named after update on organizations for each row
  when ((old.name, old.slug, old.deleted_at) is distinct from (new.name, new.slug, new.deleted_at))
  execute function note_live_for_instance('plan');

-- What a month has cost changes all the time and counts as no change.
create function note_live_plan() returns trigger language plpgsql as $$
declare
  organization uuid := coalesce(new.organization_id, old.organization_id);
begin
  perform note_live_change(null, null, true, 'plan', '', null);
  perform note_live_change(organization, null, false, 'organization', organization::text, null);
  return null;
end $$;
create trigger organization_plans_live_made after insert or delete on organization_plans for each row
  execute function note_live_plan();
create trigger organization_plans_live_changed after update on organization_plans for each row
  when ((old.plan, old.active, old.subscribed) is distinct from (new.plan, new.active, new.subscribed))
  execute function note_live_plan();

create trigger runs_live_made after insert or delete on runs for each row execute function note_live_object('run');
-- Turns of a Run: their starts and ends, and what they cost.
create function note_live_turn() returns trigger language plpgsql as $$
begin
  perform note_live_change(r.organization_id, null, false, 'run', r.id::text, r.dock_id)
    from runs r where r.id = new.run_id;
  return null;
end $$;
create trigger run_turns_live_made after insert on run_turns for each row execute function note_live_turn();
create trigger run_turns_live_changed after update on run_turns for each row
  when ((old.started_at, old.ended_at, old.report, old.completion_status, old.cost_micro_usd)
    is distinct from (new.started_at, new.ended_at, new.report, new.completion_status, new.cost_micro_usd))
  execute function note_live_turn();

-- Rows that go with their installation find none, and its own row tells of the end.
create function note_live_installation_part() returns trigger language plpgsql as $$
begin
  perform note_live_change(i.organization_id, null, false, 'installation', i.id::text, null)
    from github_installations i where i.id = coalesce(new.installation_id, old.installation_id);
  return null;
end $$;
create trigger github_installation_settings_live after update on github_installation_settings for each row
  execute function note_live_installation_part();
create trigger github_repositories_live after insert or update or delete on github_repositories for each row
  execute function note_live_installation_part();
