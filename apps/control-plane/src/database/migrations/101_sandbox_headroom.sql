-- Memory that a sandbox of the host may take beyond the size of its Dock, as the host reports it.
alter table hosts add column sandbox_headroom_mib integer not null default 128;
