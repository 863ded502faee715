-- True if the host's runtime emulates the processor, as the host reports it. Its Docks are many times slower.
alter table hosts add column is_emulated boolean not null default false;

create trigger hosts_live_emulated after update of is_emulated on hosts for each row
  when (old.is_emulated is distinct from new.is_emulated) execute function note_live_host();
