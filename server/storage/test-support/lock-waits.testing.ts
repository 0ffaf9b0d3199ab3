/**
 * Returns a block of PL/pgSQL that runs a statement once another transaction waits for this one. The
 * server polls, not the test, because PostgreSQL checks for a deadlock only once, 1 s after a wait
 * begins.
 */
export const onceAwaited = (statement: string): string => `
  do $$ begin
    for turn in 1..60000 loop
      if exists (
        select from pg_locks
        where not granted and transactionid = pg_current_xact_id()::xid
      ) then
        ${statement};
        return;
      end if;
      perform pg_sleep(0.001);
    end loop;
    raise exception 'no transaction waits for this one';
  end $$`
