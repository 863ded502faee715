-- Who made a Template. Null for those that were made before.
alter table templates add column created_by text;
