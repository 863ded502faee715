-- Whether a machine without a Dock was made for the turn. The row of the machine goes when a promotion makes a Dock of it, and
-- the agent's session must be restored all the same (decision 130).
alter table run_turns add column has_new_machine boolean not null default false;
update run_turns t set has_new_machine = true from run_machines m
  where m.run_id = t.run_id and m.turn = t.number and m.state <> 'ended';
