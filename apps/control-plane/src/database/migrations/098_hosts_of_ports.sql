-- Whether requests to an exposed port keep their Host. Otherwise the program sees localhost, which development servers accept.
alter table dock_ports add column keeps_host boolean not null default false;

drop trigger dock_ports_route on dock_ports;
create trigger dock_ports_route after insert or delete or update of keeps_host on dock_ports
  for each row execute function port_route_changed();
