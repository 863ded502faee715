-- An order of kind 'start' undoes the start of one generation. Older generations of the Dock stay on the host.
alter table host_orders drop constraint host_orders_kind_check;
alter table host_orders add constraint host_orders_kind_check check (kind in ('dock', 'start', 'capture'));
