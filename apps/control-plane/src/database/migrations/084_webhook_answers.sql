-- The start of the receiver's response, as text. Null if there was none, or if the request ended before this migration.
alter table webhook_attempts add column answer text;
