import { parseLocation, type TableLocation } from './postgresql-options.ts'
import { tableOf } from './postgresql-statements.ts'

/** Version of the table. It is the value of the row with the empty key, which no item has. */
export const schemaVersion = 1

// All rows are short-lived, and the default is a fifth of the table.
const storageParameters = 'autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02'

/** The settings that tables of earlier versions have, as PostgreSQL lists them, and what to reset. */
const earlier = {
  settings:
    '{fillfactor=90,autovacuum_vacuum_scale_factor=0.02,autovacuum_vacuum_insert_scale_factor=0.1,autovacuum_analyze_scale_factor=0.05}',
  reset: 'fillfactor, autovacuum_vacuum_insert_scale_factor, autovacuum_analyze_scale_factor',
} as const

export interface MigrationOptions {
  /** Default: `public`. */
  readonly schema?: string | undefined
  /** Default: `grantry`. */
  readonly prefix?: string | undefined
}

/**
 * Returns the SQL that creates the table of the driver, for an account that may do that. It can be run again, and changes
 * the settings of a table that an earlier version has created, unless an operator has changed them.
 *
 * @throws TypeError when the schema or the prefix is invalid.
 */
export function postgresqlMigration(options: MigrationOptions = {}): string {
  const location: TableLocation = parseLocation(options)
  const { schema, prefix } = location
  const table = tableOf(location)
  // "IF NOT EXISTS" needs the right to create a schema that exists, and a row for a table of another role could run its
  // trigger.
  return `BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL search_path = pg_catalog, pg_temp;
SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('grantry ${schema}.${prefix}', 0::bigint));
DO $migration$ BEGIN
  IF pg_catalog.to_regnamespace('"${schema}"') IS NULL THEN
    CREATE SCHEMA "${schema}";
  END IF;
  IF pg_catalog.to_regclass('${table}') IS NULL THEN
    CREATE TABLE ${table} (
      key bytea PRIMARY KEY,
      value text NOT NULL,
      ends timestamptz NOT NULL
    ) WITH (${storageParameters});
    CREATE INDEX "${prefix}_items_ends" ON ${table} (ends);
    INSERT INTO ${table} (key, value, ends) VALUES ('', '${schemaVersion}', 'infinity');
  ELSIF (
    SELECT reloptions FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass('${table}')
  ) = '${earlier.settings}'::text[] THEN
    ALTER TABLE ${table} RESET (${earlier.reset});
  END IF;
END $migration$;
COMMIT;
`
}
