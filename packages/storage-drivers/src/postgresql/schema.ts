import { parseLocation, type TableLocation } from './options.ts'
import { tableOf } from './statements.ts'

/** Version of the table. It is the value of the row with the empty key, which no item has. */
export const schemaVersion = 1

// Updates of a counter change no indexed column, so they stay in their page if it has space. All rows are short-lived:
// the thresholds of autovacuum are shares of the table by default, which a table of millions of rows reaches too late.
const storageParameters = [
  'fillfactor = 90',
  'autovacuum_vacuum_scale_factor = 0.02',
  'autovacuum_vacuum_insert_scale_factor = 0.1',
  'autovacuum_analyze_scale_factor = 0.05',
  'toast.autovacuum_vacuum_scale_factor = 0.02',
].join(', ')

export interface MigrationOptions {
  /** Default: `public`. */
  readonly schema?: string | undefined
  /** Default: `grantry`. */
  readonly prefix?: string | undefined
}

/**
 * Returns the SQL that creates the table of the driver, for an account that may do that. It can be run again.
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
  END IF;
END $migration$;
COMMIT;
`
}
