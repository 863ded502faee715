-- The release of the runtime that new Docks of the host get, as the host reports it. Earlier agents do not report it.
alter table hosts add column runtime_release jsonb;
