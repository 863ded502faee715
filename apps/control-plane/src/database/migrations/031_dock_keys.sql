-- A Dock's keys go with the Dock, and none outlives the boot that it was issued for: an ended key is deleted.
delete from api_keys k where k.dock_id is not null
  and (k.revoked_at is not null or not exists (select 1 from docks d
    where d.id = k.dock_id and d.state not in ('archived', 'error')));
alter table api_keys add constraint api_keys_dock foreign key (dock_id) references docks (id) on delete cascade;
create index api_keys_by_dock on api_keys (dock_id) where dock_id is not null;
